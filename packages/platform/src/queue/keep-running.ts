import { setTimeout as wait } from "node:timers/promises";
import type { Worker } from "bullmq";

const RESTART_AFTER_MS = 1_000;

/** What a BullMQ worker runs by: its fetch loop, which ends when the worker is paused or closed. */
export type Runnable = Pick<Worker, "run" | "isRunning">;

/**
 * Makes a worker's loop one that reports an error and begins again, instead of rejecting. BullMQ's `resume` starts the
 * loop and lets go of its promise: a rejection there would end the process, and a loop that ended takes no jobs.
 */
export function keepRunning(
  worker: Runnable,
  { onError, isClosing }: { readonly onError: (error: Error) => void; readonly isClosing: () => boolean },
  restartAfterMs = RESTART_AFTER_MS,
): void {
  const run = worker.run.bind(worker);
  worker.run = async () => {
    do {
      try {
        return await run();
      } catch (error) {
        onError(error instanceof Error ? error : new Error("the fetch loop failed", { cause: error }));
      }
      await wait(restartAfterMs);
      // Somebody may have resumed it meanwhile.
    } while (!isClosing() && !worker.isRunning());
  };
}
