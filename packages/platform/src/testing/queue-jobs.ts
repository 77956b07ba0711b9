import { randomUUID } from "node:crypto";
import type { ConsumeOptions, JobHandler, Queue, QueuedJob } from "../queue/queue.ts";
import { deferred } from "./deferred.ts";

/** A job of a new generation: epoch 1, priority 1. */
export function newJob(overrides: Partial<QueuedJob> = {}): QueuedJob {
  return { tenantId: randomUUID(), generationId: randomUUID(), epoch: 1, priority: 1, ...overrides };
}

/** Consumes with errors ignored. */
export function consume(queue: Queue, concurrency: number, handler: JobHandler, options: Partial<ConsumeOptions> = {}) {
  return queue.consume(handler, { concurrency, onError: () => undefined, ...options });
}

/** Consumes and remembers what ran; `waitFor(n)` resolves when `n` jobs have. */
export async function record(queue: Queue, options: Partial<ConsumeOptions> = {}) {
  const runs: Parameters<JobHandler>[0][] = [];
  const waiters: { readonly count: number; readonly resolve: () => void }[] = [];
  const consumer = await consume(
    queue,
    1,
    (job) => {
      runs.push(job);
      for (const { count, resolve } of waiters) if (runs.length >= count) resolve();
      return Promise.resolve();
    },
    options,
  );
  const waitFor = (count: number): Promise<void> =>
    new Promise((resolve) => {
      waiters.push({ count, resolve });
      if (runs.length >= count) resolve();
    });
  return { consumer, runs, waitFor };
}

/** The first `count` jobs that run. */
export async function collect(queue: Queue, count: number, options: Partial<ConsumeOptions> = {}) {
  const { consumer, runs, waitFor } = await record(queue, options);
  await waitFor(count);
  await consumer.close();
  return runs;
}

/** Consumes and holds every job until `finish`. */
export async function holdOne(queue: Queue, concurrency = 1, options: Partial<ConsumeOptions> = {}) {
  const started = deferred<AbortSignal>();
  const finished = deferred();
  const runs: Parameters<JobHandler>[0][] = [];
  const consumer = await consume(
    queue,
    concurrency,
    async (job, signal) => {
      runs.push(job);
      started.resolve(signal);
      await finished.promise;
    },
    options,
  );
  return { consumer, runs, started: started.promise, finish: () => finished.resolve() };
}

/** Resolves once the queue is done with the job. */
export async function untilGone(queue: Queue, job: QueuedJob): Promise<void> {
  while ((await queue.state(job)) !== "gone") await new Promise(setImmediate);
}

/** Resolves once the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
