/** Why a run here must stop; decides what becomes of it. */
export type AbortCause =
  /** A cancel was accepted: ends `cancelled`, partial text kept. */
  | "cancelled"
  /** Another attempt holds the row, or it has ended: nothing may be written any more. */
  | "fenced"
  /** Its deadline has passed: ends `failed`, DEADLINE_EXCEEDED. */
  | "deadline"
  /** This worker shuts down: handed back, the attempt not counted. */
  | "draining";

/** The reason on a run's abort signal. */
export class RunAborted extends Error {
  readonly abortCause: AbortCause;

  constructor(cause: AbortCause) {
    super(`run aborted: ${cause}`);
    this.name = "RunAborted";
    this.abortCause = cause;
  }
}

export interface ActiveRun {
  readonly generationId: string;
  readonly signal: AbortSignal;
  /** Null until claimed. */
  fence: number | null;
  /** `performance.now()` of the claim; a sweep that began before it knows nothing of this run. */
  claimedAtMs: number;
}

/** The runs of this process, by generation: where cancels, sweeps and the drain find them. */
export interface ActiveRuns {
  open(generationId: string): ActiveRun;
  close(run: ActiveRun): void;
  abort(generationId: string, cause: AbortCause): void;
  abortAll(cause: AbortCause): void;
  list(): readonly ActiveRun[];
  /** Resolves when no run is left. */
  settled(): Promise<void>;
}

export function createActiveRuns(): ActiveRuns {
  const runs = new Map<ActiveRun, AbortController>();
  let onSettled: (() => void)[] = [];

  const abortRun = (run: ActiveRun, cause: AbortCause): void => runs.get(run)?.abort(new RunAborted(cause));
  return {
    open(generationId) {
      const controller = new AbortController();
      const run: ActiveRun = { generationId, signal: controller.signal, fence: null, claimedAtMs: Infinity };
      runs.set(run, controller);
      return run;
    },
    close(run) {
      runs.delete(run);
      if (runs.size > 0) return;
      for (const resolve of onSettled) resolve();
      onSettled = [];
    },
    abort(generationId, cause) {
      for (const run of runs.keys()) if (run.generationId === generationId) abortRun(run, cause);
    },
    abortAll(cause) {
      for (const run of runs.keys()) abortRun(run, cause);
    },
    list: () => [...runs.keys()],
    settled: () => (runs.size === 0 ? Promise.resolve() : new Promise((resolve) => onSettled.push(resolve))),
  };
}
