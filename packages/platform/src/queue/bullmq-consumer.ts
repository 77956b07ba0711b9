import { jobId } from "@shiftwork/contracts";
import { WaitingError } from "bullmq";
import type { Backend, JobProcessor } from "./bullmq-backend.ts";
import { keepRunning } from "./keep-running.ts";
import type { ConsumeOptions, JobHandler, QueueConsumer } from "./queue.ts";

const LOCK_DURATION_MS = 15_000;

/**
 * Starts taking jobs. Resolves once the worker is connected.
 * @throws Error when a PostgreSQL queue cannot be reached; on Redis it waits and reports to `onError` meanwhile.
 */
export async function consumeJobs(
  backend: Backend,
  name: string,
  handler: JobHandler,
  options: ConsumeOptions,
): Promise<QueueConsumer> {
  const lockDuration = options.lockDurationMs ?? LOCK_DURATION_MS;
  const running = new Set<Promise<void>>();
  let takesJobs = true;
  let closing: Promise<void> | null = null;
  const processor: JobProcessor = async (job, token, signal) => {
    if (signal === undefined) throw new Error("BullMQ gave the processor no abort signal");
    // A fetch that was under way when the consumer was paused still brings its job: it goes back to the others.
    if (!takesJobs) {
      await job.moveToWait(token);
      throw new WaitingError();
    }
    const run = handler(job.data, signal);
    running.add(run);
    await run.finally(() => running.delete(run));
  };
  assertTakesSignal(processor);
  const settings = { concurrency: options.concurrency, lockDuration, stalledInterval: lockDuration / 2 };
  const { worker, isReachable, dispose } = backend.openWorker(name, processor, settings);
  const report = reporter(options.onError);
  worker.on("error", report);
  worker.on("failed", (_job, error) => report(error));
  // Another worker may run it already: what this one still does is wasted, and its writes are fenced off.
  worker.on("lockRenewalFailed", (ids) => {
    for (const id of ids) worker.cancelJob(id, "lock lost");
  });
  keepRunning(worker, { onError: report, isClosing: () => closing !== null });
  void worker.run();
  await worker.waitUntilReady().catch(async (error: unknown) => {
    await worker.close(true);
    dispose();
    throw error;
  });

  async function close(): Promise<void> {
    takesJobs = false;
    await worker.pause(true);
    await Promise.allSettled(running);
    // What is not told to a server that is away is found out by it later: the jobs' locks expire.
    await worker.close(!isReachable());
    dispose();
  }
  return {
    cancel: (job, reason) => worker.cancelJob(jobId(job), reason),
    pause: () => {
      takesJobs = false;
      return worker.pause(true);
    },
    resume: async () => {
      if (closing !== null) return;
      takesJobs = true;
      await worker.resume();
    },
    close: () => (closing ??= close()),
  };
}

/** BullMQ tells of errors in the middle of its loop: a listener that throws would end that. */
function reporter(onError: (error: Error) => void): (error: Error) => void {
  return (error) => {
    try {
      onError(error);
    } catch {
      // Whom it could be told to has just failed.
    }
  };
}

/**
 * BullMQ looks at `processor.length` and makes no abort signal below three: a default, a rest parameter or a wrapper
 * would silently make every job impossible to cancel.
 * @throws TypeError when the processor does not declare exactly three plain parameters.
 */
export function assertTakesSignal(processor: (...args: never[]) => unknown): void {
  if (processor.length === 3) return;
  throw new TypeError(`a job processor declares exactly (job, token, signal), this one ${processor.length} parameters`);
}
