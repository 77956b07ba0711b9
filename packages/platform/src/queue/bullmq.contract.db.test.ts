import { randomUUID } from "node:crypto";
import { jobId, type GenerationJob } from "@shiftwork/contracts";
import { createPostgresBackend, Queue as BullQueue, withBackend, Worker, type Job, type WorkerOptions } from "bullmq";
import { afterEach, describe, expect, inject, it, onTestFinished, vi } from "vitest";
import { deferred } from "../testing/deferred.ts";
import { collect, consume, holdOne, newJob, record, untilGone } from "../testing/queue-jobs.ts";
import { tcpProxy } from "../testing/tcp-proxy.ts";
import { backendFor } from "./bullmq-backend.ts";
import { openQueue } from "./bullmq-queue.ts";
import type { Queue } from "./queue.ts";

/*
 * What the adapter, dispatcher, reconciler and worker take for granted of BullMQ, so that an upgrade that changes it is
 * seen. `queue.contract.db.test.ts` has the rest: idempotent ids, priority, signal, pause, frozen consumers, lost servers.
 */
const redisUrl = inject("redisUrl");
const BACKENDS = [
  { url: inject("databaseUrl"), title: "on PostgreSQL" },
  { url: redisUrl, title: redisUrl === null ? "on Redis (skipped: there is no Redis)" : "on Redis" },
] as const;

/** BullMQ's own classes on the backend of a URL, with the options of a test. */
function bullmqOn(url: string, name: string) {
  const isRedis = backendFor(url).kind === "redis";
  const OnPostgres = withBackend(createPostgresBackend);
  return {
    openQueue: () =>
      isRedis
        ? new BullQueue<GenerationJob, void>(name, { connection: { url } })
        : new OnPostgres.Queue<GenerationJob, void>(name, { connection: { connectionString: url, max: 3 } }),
    openWorker: (processor: (job: Job) => Promise<unknown>, options: Partial<WorkerOptions> = {}) =>
      isRedis
        ? new Worker(name, processor, { connection: { url, maxRetriesPerRequest: null }, ...options })
        : new OnPostgres.Worker(name, processor, {
            ...options,
            connection: { connectionString: url, max: 3, migrate: true },
          }),
  };
}

describe.each(BACKENDS)("BullMQ $title", ({ url: given }) => {
  const describeHere = given === null ? describe.skip : describe;
  const url = given ?? "redis://127.0.0.1:1";
  describeHere("can be relied on:", () => {
    const opened: Queue[] = [];

    function open(name = `test-${randomUUID()}`, at = url): Queue {
      const queue = openQueue({ name, url: at, onError: () => undefined });
      opened.push(queue);
      return queue;
    }

    /** BullMQ itself beside the adapter, on the same queue. */
    function openBoth() {
      const name = `test-${randomUUID()}`;
      const raw = bullmqOn(url, name);
      const bull = raw.openQueue();
      bull.on("error", () => undefined);
      onTestFinished(() => bull.close());
      const startWorker = (...args: Parameters<typeof raw.openWorker>) => {
        const worker = raw.openWorker(...args);
        worker.on("error", () => undefined);
        onTestFinished(() => worker.close());
        return worker;
      };
      return { name, queue: open(name), bull, startWorker };
    }

    afterEach(async () => {
      await Promise.all(opened.splice(0).map((queue) => queue.close()));
    });

    it("a job that was taken out leaves its id free", async () => {
      const queue = open();
      const job = newJob();
      await queue.add([job]);
      expect(await queue.remove(job)).toBe(true);
      await queue.add([job]);
      expect((await collect(queue, 1)).map(jobId)).toEqual([jobId(job)]);
    });

    it("a job that failed keeps its id as one that ended well: added again it does not run", async () => {
      const queue = open();
      const [failing, marker] = [newJob(), newJob({ priority: 9 })];
      await queue.add([failing]);
      const runs: string[] = [];
      const done = deferred();
      await consume(queue, 1, async (job) => {
        runs.push(jobId(job));
        if (jobId(job) === jobId(failing)) throw new Error("handler failed");
        done.resolve();
      });
      await untilGone(queue, failing);
      await queue.add([failing, marker]);
      await done.promise;
      expect(runs).toEqual([jobId(failing), jobId(marker)]);
    });

    it("an id is free again once its job is no longer kept", async () => {
      const { queue, startWorker } = openBoth();
      const [first, second] = [newJob(), newJob()];
      const runs: string[] = [];
      startWorker(async (job) => void runs.push(String(job.id)), { removeOnComplete: { count: 1 } });
      await queue.add([first]);
      await vi.waitFor(() => expect(runs).toEqual([jobId(first)]));
      await queue.add([second]);
      await vi.waitFor(() => expect(runs).toHaveLength(2));
      await untilGone(queue, second);
      await queue.add([first]);
      await vi.waitFor(() => expect(runs).toEqual([jobId(first), jobId(second), jobId(first)]));
    });

    it("a job in the store is ids and nothing else, tried once, and returns nothing", async () => {
      const { queue, bull } = openBoth();
      const job = newJob({ priority: 4 });
      await queue.add([job]);
      const { tenantId, generationId, epoch } = job;
      const waiting = await bull.getJob(jobId(job));
      expect(waiting?.data).toEqual({ tenantId, generationId, epoch });
      expect(waiting?.opts).toMatchObject({ attempts: 1, priority: 4 });
      await collect(queue, 1);
      expect((await bull.getJob(jobId(job)))?.returnvalue).toBeNull();
    });

    it("jobs of one priority run in the order they were added", async () => {
      const queue = open();
      const jobs = Array.from({ length: 5 }, () => newJob({ priority: 7 }));
      for (const job of jobs) await queue.add([job]);
      expect((await collect(queue, 5)).map(jobId)).toEqual(jobs.map(jobId));
    });

    it("a job without a priority overtakes those with the first one, which is why there is always one", async () => {
      const { queue, bull } = openBoth();
      const first = newJob({ priority: 1 });
      const without = newJob();
      await queue.add([first]);
      await bull.add("generation", without, { jobId: jobId(without) });
      expect((await collect(queue, 2)).map(jobId)).toEqual([jobId(without), jobId(first)]);
    });

    it("a priority beyond the largest is the largest", async () => {
      const queue = open();
      const [far, near] = [newJob({ priority: 9_000_000 }), newJob({ priority: 2_000_000 })];
      await queue.add([far, near]);
      expect((await collect(queue, 2)).map(jobId)).toEqual([jobId(near), jobId(far)]);
    });

    it("as many jobs run at once as the concurrency says, and no more", async () => {
      const queue = open();
      const finish = deferred();
      const [second, all] = [deferred(), deferred()];
      let [running, most, ran] = [0, 0, 0];
      await consume(queue, 2, async () => {
        running += 1;
        most = Math.max(most, running);
        if (running === 2) second.resolve();
        await finish.promise;
        running -= 1;
        ran += 1;
        if (ran === 5) all.resolve();
      });
      await queue.add(Array.from({ length: 5 }, () => newJob()));
      await second.promise;
      // Were a third fetched, these would give it the time.
      for (let roundTrip = 0; roundTrip < 30; roundTrip += 1) await queue.state(newJob());
      expect(running).toBe(2);
      finish.resolve();
      await all.promise;
      expect(most).toBe(2);
    });

    it("a lock is renewed for as long as its job runs: nobody else gets it", async () => {
      const queue = open();
      const job = newJob();
      const lockDurationMs = 300;
      const { started, finish, runs } = await holdOne(queue, 1, { lockDurationMs });
      await queue.add([job]);
      await started;
      const { runs: elsewhere } = await record(queue, { lockDurationMs });
      const until = performance.now() + 4 * lockDurationMs;
      while (performance.now() < until) expect(await queue.state(job)).toBe("active");
      finish();
      await untilGone(queue, job);
      expect([runs.length, elsewhere.length]).toEqual([1, 0]);
    });

    it("a job whose locks expired more often than allowed is done with, and its id taken", async () => {
      const { queue, startWorker } = openBoth();
      const job = newJob();
      const held = deferred();
      const release = deferred();
      const silent = { lockDuration: 200, skipLockRenewal: true, skipStalledCheck: true };
      const loser = startWorker(() => (held.resolve(), release.promise), silent);
      await queue.add([job]);
      await held.promise;
      await loser.pause(true);
      const ran = vi.fn<() => Promise<void>>(() => Promise.resolve());
      startWorker(ran, { lockDuration: 200, stalledInterval: 100, maxStalledCount: 0 });
      // The last to be registered is the first to be called: the worker that is closed waits for its job.
      onTestFinished(() => release.resolve());
      await untilGone(queue, job);
      const marker = newJob();
      await queue.add([job, marker]);
      await untilGone(queue, marker);
      expect(ran).toHaveBeenCalledTimes(1);
    });

    it("a closed consumer leaves what waits to others", async () => {
      const queue = open();
      const [running, waiting] = [newJob(), newJob({ priority: 2 })];
      const { consumer, started, finish, runs } = await holdOne(queue);
      await queue.add([running, waiting]);
      await started;
      const closed = consumer.close();
      finish();
      await closed;
      expect(await queue.state(waiting)).toBe("waiting");
      expect(runs.map(jobId)).toEqual([jobId(running)]);
      expect((await collect(queue, 1)).map(jobId)).toEqual([jobId(waiting)]);
    });

    it("an idle consumer takes the next job after its server went away and came back", async () => {
      const server = await tcpProxy(url);
      await server.open();
      onTestFinished(() => server.cut());
      const name = `test-${randomUUID()}`;
      const [queue, far] = [open(name), open(name, server.url)];
      const [before, after] = [newJob(), newJob()];
      const { runs, waitFor } = await record(far);
      await queue.add([before]);
      await waitFor(1);
      await untilGone(queue, before);
      await server.cut();
      await server.open();
      await queue.add([after]);
      await waitFor(2);
      expect(runs.map(jobId)).toEqual([jobId(before), jobId(after)]);
    });

    it("an idle consumer and its queue can be closed while their server is away", async () => {
      const server = await tcpProxy(url);
      await server.open();
      const queue = openQueue({ name: `test-${randomUUID()}`, url: server.url, onError: () => undefined });
      await queue.add([newJob()]);
      const { waitFor } = await record(queue);
      await waitFor(1);
      await server.cut();
      await vi.waitFor(() => expect(queue.add([newJob()])).rejects.toThrow("cannot be reached"));
      await queue.close();
    });

    it("a busy consumer whose server is away is closed when its job has ended, and not before", async () => {
      const server = await tcpProxy(url);
      await server.open();
      const queue = openQueue({ name: `test-${randomUUID()}`, url: server.url, onError: () => undefined });
      const { consumer, started, finish } = await holdOne(queue);
      await queue.add([newJob()]);
      await started;
      await server.cut();
      const order: string[] = [];
      const closed = consumer.close().then(() => order.push("closed"));
      await expect(queue.state(newJob())).rejects.toThrow("cannot be reached");
      order.push("still busy");
      finish();
      await closed;
      expect(order).toEqual(["still busy", "closed"]);
      await queue.close();
    });

    it("resuming a worker whose loop has ended starts it by `run`, where the adapter can catch what it rejects", async () => {
      const { queue, startWorker } = openBoth();
      const worker = startWorker(async () => undefined, { autorun: false });
      await worker.waitUntilReady();
      const started = vi.fn<() => Promise<void>>(() => Promise.resolve());
      worker.run = started;
      await worker.pause(true);
      expect(worker.isRunning()).toBe(false);
      await worker.resume();
      expect(started).toHaveBeenCalledTimes(1);
      expect(await queue.state(newJob())).toBe("gone");
    });

    it("a consumer whose listener of errors throws goes on, and leaves no error that nobody catches", async () => {
      const uncaught = vi.fn<(reason: unknown) => void>();
      for (const event of ["unhandledRejection", "uncaughtException"] as const) {
        process.on(event, uncaught);
        onTestFinished(() => void process.off(event, uncaught));
      }
      const server = await tcpProxy(url);
      await server.open();
      onTestFinished(() => server.cut());
      const name = `test-${randomUUID()}`;
      const [queue, far] = [open(name), open(name, server.url)];
      const [failing, marker] = [newJob(), newJob({ priority: 9 })];
      const done = deferred();
      const told = vi.fn<() => void>(() => {
        throw new Error("the log is full");
      });
      const handler = async (job: GenerationJob) => {
        if (jobId(job) === jobId(failing)) throw new Error("handler failed");
        done.resolve();
      };
      const consumer = await consume(far, 1, handler, { onError: told });
      await queue.add([failing]);
      await vi.waitFor(() => expect(told).toHaveBeenCalled());
      const before = told.mock.calls.length;
      await server.cut();
      await vi.waitFor(() => expect(told.mock.calls.length).toBeGreaterThan(before), { timeout: 10_000 });
      await server.open();
      await consumer.pause();
      await consumer.resume();
      await queue.add([marker]);
      await done.promise;
      expect(uncaught).not.toHaveBeenCalled();
    });
  });
});

describe("a consumer whose server is away at its start", () => {
  it("on PostgreSQL is refused, and its queue can be closed", async () => {
    const server = await tcpProxy(inject("databaseUrl"));
    const queue = openQueue({ name: `test-${randomUUID()}`, url: server.url, onError: () => undefined });
    await expect(consume(queue, 1, () => Promise.resolve())).rejects.toThrow("ECONNREFUSED");
    await queue.close();
  });

  it.skipIf(redisUrl === null)("on Redis waits for it, tells of it, and then takes jobs", async () => {
    const server = await tcpProxy(redisUrl ?? "");
    const queue = openQueue({ name: `test-${randomUUID()}`, url: server.url, onError: () => undefined });
    const told = deferred<Error>();
    const ran = deferred();
    const consuming = consume(queue, 1, async () => ran.resolve(), { onError: told.resolve });
    await told.promise;
    await server.open();
    onTestFinished(() => server.cut());
    await consuming;
    await vi.waitFor(() => queue.add([newJob()]), { timeout: 10_000 });
    await ran.promise;
    await queue.close();
  });
});
