import { randomUUID } from "node:crypto";
import { jobId } from "@shiftwork/contracts";
import { afterEach, describe, expect, inject, it, onTestFinished, vi } from "vitest";
import { deferred } from "../testing/deferred.ts";
import { startHoldingProcess } from "../testing/holding-process.ts";
import { aborted, collect, consume, holdOne, newJob, record, untilGone } from "../testing/queue-jobs.ts";
import { tcpProxy } from "../testing/tcp-proxy.ts";
import { assertTakesSignal } from "./bullmq-consumer.ts";
import { openQueue } from "./bullmq-queue.ts";
import type { JobHandler, Queue } from "./queue.ts";

const redisUrl = inject("redisUrl");
const BACKENDS = [
  { kind: "postgres", url: inject("databaseUrl"), title: "on PostgreSQL" },
  { kind: "redis", url: redisUrl, title: redisUrl === null ? "on Redis (skipped: there is no Redis)" : "on Redis" },
] as const;

describe.each(BACKENDS)("a queue $title", ({ kind, url }) => {
  const describeHere = url === null ? describe.skip : describe;
  describeHere("keeps its contract:", () => {
    const opened: Queue[] = [];

    function open(name = `test-${randomUUID()}`): Queue {
      const queue = openQueue({ name, url: url ?? "", onError: () => undefined });
      opened.push(queue);
      return queue;
    }

    afterEach(async () => {
      await Promise.all(opened.splice(0).map((queue) => queue.close()));
    });

    it("says which backend it is", () => {
      expect(open().backend).toBe(kind);
    });

    it("hands a job's ids to the handler", async () => {
      const queue = open();
      const job = newJob();
      await queue.add([job]);
      const runs = await collect(queue, 1);
      expect(runs).toEqual([{ tenantId: job.tenantId, generationId: job.generationId, epoch: job.epoch }]);
    });

    it("takes an empty list", async () => {
      await expect(open().add([])).resolves.toBeUndefined();
    });

    it("runs a job once that was added twice", async () => {
      const queue = open();
      const [job, marker] = [newJob(), newJob({ priority: 9 })];
      await queue.add([job]);
      await queue.add([job, marker]);
      const runs = await collect(queue, 2);
      expect(runs.map(jobId)).toEqual([jobId(job), jobId(marker)]);
    });

    it("does nothing when a finished job is added again", async () => {
      const queue = open();
      const [job, marker] = [newJob(), newJob()];
      await queue.add([job]);
      const { runs, waitFor } = await record(queue);
      await waitFor(1);
      await untilGone(queue, job);
      await queue.add([job, marker]);
      await waitFor(2);
      expect(runs.map(jobId)).toEqual([jobId(job), jobId(marker)]);
    });

    it("runs a generation again under a higher epoch", async () => {
      const queue = open();
      const job = newJob();
      await queue.add([job]);
      const { runs, waitFor } = await record(queue);
      await waitFor(1);
      await queue.add([{ ...job, epoch: job.epoch + 1 }]);
      await waitFor(2);
      expect(runs.map(({ epoch }) => epoch)).toEqual([job.epoch, job.epoch + 1]);
    });

    it("runs the lowest priority number first", async () => {
      const queue = open();
      const jobs = [5, 1, 3].map((priority) => newJob({ priority }));
      await queue.add(jobs);
      const runs = await collect(queue, 3);
      const order = runs.map((run) => jobs.find((job) => job.generationId === run.generationId)?.priority);
      expect(order).toEqual([1, 3, 5]);
    });

    it.each([0, -1, 1.5])("refuses priority %d", async (priority) => {
      await expect(open().add([newJob({ priority })])).rejects.toThrow(RangeError);
    });

    it("aborts the signal of a cancelled job and of no other", async () => {
      const queue = open();
      const [first, second] = [newJob(), newJob()];
      const started = new Map<string, AbortSignal>();
      const bothStarted = deferred();
      const finish = deferred();
      const consumer = await consume(queue, 2, async (job, signal) => {
        started.set(jobId(job), signal);
        if (started.size === 2) bothStarted.resolve();
        await Promise.race([aborted(signal), finish.promise]);
      });
      await queue.add([first, second]);
      await bothStarted.promise;
      expect(consumer.cancel(first, "asked for")).toBe(true);
      finish.resolve();
      await consumer.close();
      expect(started.get(jobId(first))?.reason).toBe("asked for");
      expect(started.get(jobId(second))?.aborted).toBe(false);
    });

    it("says false when the job to cancel does not run here", async () => {
      const consumer = await consume(open(), 1, () => Promise.resolve());
      expect(consumer.cancel(newJob(), "unknown")).toBe(false);
    });

    it("removes a waiting job, once", async () => {
      const queue = open();
      const job = newJob();
      await queue.add([job]);
      expect(await queue.remove(job)).toBe(true);
      expect(await queue.remove(job)).toBe(false);
      expect(await queue.state(job)).toBe("gone");
    });

    it("does not remove a running job or an unknown one", async () => {
      const queue = open();
      const job = newJob();
      const { started, finish } = await holdOne(queue);
      await queue.add([job]);
      await started;
      expect(await queue.remove(job)).toBe(false);
      expect(await queue.remove(newJob())).toBe(false);
      expect(await queue.state(job)).toBe("active");
      finish();
    });

    it("tells a job's state from waiting to gone", async () => {
      const queue = open();
      const job = newJob();
      expect(await queue.state(job)).toBe("gone");
      await queue.add([job]);
      expect(await queue.state(job)).toBe("waiting");
      const { started, finish } = await holdOne(queue);
      await started;
      expect(await queue.state(job)).toBe("active");
      finish();
      await untilGone(queue, job);
    });

    it("leaves jobs to other consumers once it is paused, and goes on with its own", async () => {
      const queue = open();
      const [running, later] = [newJob(), newJob()];
      const paused = await holdOne(queue, 5);
      await queue.add([running]);
      await paused.started;
      await paused.consumer.pause();
      await queue.add([later]);
      expect((await collect(queue, 1)).map(jobId)).toEqual([jobId(later)]);
      expect(paused.runs.map(jobId)).toEqual([jobId(running)]);
      paused.finish();
      await untilGone(queue, running);
    });

    it("leaves the next job to others when it was idle while paused", async () => {
      const queue = open();
      const [warmUp, later] = [newJob(), newJob()];
      const { consumer, runs } = await record(queue);
      await queue.add([warmUp]);
      await untilGone(queue, warmUp);
      // By then the consumer waits for the next job, inside a request that it cannot take back.
      for (let roundTrip = 0; roundTrip < 30; roundTrip += 1) await queue.state(later);
      await consumer.pause();
      await queue.add([later]);
      expect((await collect(queue, 1)).map(jobId)).toEqual([jobId(later)]);
      expect(runs.map(jobId)).toEqual([jobId(warmUp)]);
    });

    it("takes jobs again once it is resumed, while one of before the pause still runs", async ({ signal }) => {
      const queue = open();
      const [running, later] = [newJob(), newJob()];
      const [started, again, finish] = [deferred(), deferred(), deferred()];
      const consumer = await consume(queue, 2, async (job) => {
        if (jobId(job) === jobId(later)) return again.resolve();
        started.resolve();
        await Promise.race([finish.promise, aborted(signal)]);
      });
      await queue.add([running]);
      await started.promise;
      await consumer.pause();
      await queue.add([later]);
      await consumer.resume();
      await again.promise;
      expect(await queue.state(running)).toBe("active");
      finish.resolve();
    });

    it("takes jobs again after a pause in which another consumer did the work, as often as it is paused", async () => {
      const queue = open();
      const { consumer, waitFor } = await record(queue);
      for (let pauses = 0; pauses < 3; pauses += 1) {
        await consumer.pause();
        await queue.add([newJob()]);
        await collect(queue, 1);
        await consumer.resume();
        await queue.add([newJob()]);
        await waitFor(pauses + 1);
      }
    });

    it("takes nothing when it is resumed after it was closed", async () => {
      const queue = open();
      const { consumer, runs } = await record(queue);
      await consumer.pause();
      await consumer.close();
      await consumer.resume();
      const job = newJob();
      await queue.add([job]);
      expect((await collect(queue, 1)).map(jobId)).toEqual([jobId(job)]);
      expect(runs).toEqual([]);
    });

    it("waits for running jobs when it is closed, also when asked twice", async () => {
      const queue = open();
      const job = newJob();
      const { consumer, started, finish } = await holdOne(queue);
      await queue.add([job]);
      await started;
      const closing = Promise.all([consumer.close(), consumer.close()]).then(() => "closed");
      expect(await Promise.race([closing, queue.state(job)])).toBe("active");
      finish();
      expect(await closing).toBe("closed");
      expect(await queue.state(job)).toBe("gone");
      await consumer.close();
    });

    it("does not run a job again whose handler threw, and reports the error", async () => {
      const queue = open();
      const [failing, marker] = [newJob(), newJob({ priority: 9 })];
      const errors: string[] = [];
      const runs: string[] = [];
      const done = deferred();
      const handler: JobHandler = async (job) => {
        runs.push(jobId(job));
        if (job.generationId === failing.generationId) throw new Error("handler failed");
        done.resolve();
      };
      await queue.consume(handler, { concurrency: 1, onError: (error) => void errors.push(error.message) });
      await queue.add([failing, marker]);
      await done.promise;
      expect(runs).toEqual([jobId(failing), jobId(marker)]);
      expect(errors).toEqual(["handler failed"]);
      expect(await queue.state(failing)).toBe("gone");
    });

    it("hands on the job of a frozen consumer, which is told to stop when it wakes", async () => {
      const name = `test-${randomUUID()}`;
      const [queue, job] = [open(name), newJob()];
      const frozen = startHoldingProcess({ name, url: url ?? "", lockDurationMs: 400 });
      onTestFinished(() => frozen.kill());
      await queue.add([job]);
      expect(await frozen.nextLine()).toBe(`started ${jobId(job)}`);
      frozen.signal("SIGSTOP");
      const again = await collect(queue, 1, { lockDurationMs: 400 });
      expect(again.map(jobId)).toEqual([jobId(job)]);
      frozen.signal("SIGCONT");
      expect(await frozen.nextLine()).toBe(`aborted ${jobId(job)}: lock lost`);
    });

    it("starts without its server, fails soon, and works once the server is there", async () => {
      const server = await tcpProxy(url ?? "");
      const queue = openQueue({ name: `test-${randomUUID()}`, url: server.url, onError: () => undefined });
      opened.push(queue);
      const job = newJob();
      const startedAt = performance.now();
      await expect(queue.add([job])).rejects.toMatchObject({ name: "QueueUnavailableError" });
      await expect(queue.state(job)).rejects.toMatchObject({ name: "QueueUnavailableError" });
      expect(performance.now() - startedAt).toBeLessThan(5_000);
      await server.open();
      onTestFinished(() => server.cut());
      await vi.waitFor(() => queue.add([job]), { timeout: 10_000 });
      expect(await queue.state(job)).toBe("waiting");
    });

    it("runs each job once when its server goes away and comes back during one", async () => {
      const server = await tcpProxy(url ?? "");
      await server.open();
      onTestFinished(() => server.cut());
      const name = `test-${randomUUID()}`;
      const [queue, far] = [open(name), openQueue({ name, url: server.url, onError: () => undefined })];
      opened.push(far);
      const [during, after] = [newJob(), newJob()];
      const { started, finish, runs } = await holdOne(far);
      await queue.add([during]);
      await started;
      await server.cut();
      await server.open();
      finish();
      await untilGone(queue, during);
      await queue.add([after]);
      await untilGone(queue, after);
      expect(runs.map(jobId)).toEqual([jobId(during), jobId(after)]);
    });
  });
});

describe("a job processor", () => {
  it("is accepted with exactly three declared parameters", () => {
    expect(() => assertTakesSignal((_job: unknown, _token: unknown, _signal: unknown) => undefined)).not.toThrow();
  });

  it.each([
    ["two parameters", (_job: unknown, _token: unknown) => undefined],
    ["rest parameters", (..._all: unknown[]) => undefined],
    ["a default for the signal", (_job: unknown, _token: unknown, _signal: unknown = null) => undefined],
  ])("is refused with %s, for which BullMQ makes no signal", (_title, processor) => {
    expect(() => assertTakesSignal(processor)).toThrow(TypeError);
  });
});
