import { performance } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import type { Clock } from "@shiftwork/pipeline";

/** The clock an assembly runs with: monotonic milliseconds, and the timer that bounds plugins and summarisers. */
export const hostClock: Clock & Required<Pick<Clock, "after">> = {
  now: () => performance.now(),
  // An ended wait is no error of its own: whoever aborted it knows why.
  after: (ms, signal) => setTimeout(ms, undefined, { signal, ref: false }).catch(() => signal.throwIfAborted()),
};
