import { setTimeout as delay } from "node:timers/promises";

/** A background loop around a `runOnce` that tests call by themselves. */
export interface Loop {
  start(): void;
  /** Runs again at once instead of after the interval. */
  wake(): void;
  /** Resolves when the run under way has ended. Safe twice. */
  stop(): Promise<void>;
}

export interface LoopOptions {
  readonly name: string;
  /** Pause between the end of a run and the start of the next. */
  readonly intervalMs: number;
  /** True = there may be more to do: run again without a pause. A number = again after so many milliseconds at the latest. */
  readonly runOnce: (signal: AbortSignal) => Promise<boolean | number | void>;
  readonly onError: (name: string, error: unknown) => void;
}

/** One run at a time; a failed run is reported and the loop goes on. */
export function createLoop(options: LoopOptions): Loop {
  const stopping = new AbortController();
  let woken = false;
  let interrupt: (() => void) | null = null;
  let running: Promise<void> | null = null;

  async function pause(ms: number): Promise<void> {
    if (woken || stopping.signal.aborted) return;
    const waking = new AbortController();
    interrupt = () => waking.abort();
    await delay(ms, undefined, { signal: waking.signal }).catch(() => {});
    interrupt = null;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      woken = false;
      const more = await options.runOnce(stopping.signal).catch((error: unknown) => {
        if (!stopping.signal.aborted) options.onError(options.name, error);
        return false;
      });
      if (typeof more === "number") await pause(Math.min(more, options.intervalMs));
      else if (more !== true) await pause(options.intervalMs);
    }
  }

  return {
    start() {
      running ??= run();
    },
    wake() {
      woken = true;
      interrupt?.();
    },
    async stop() {
      stopping.abort();
      interrupt?.();
      await running;
    },
  };
}
