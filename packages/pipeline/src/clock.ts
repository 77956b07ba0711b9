/** Ends after that many milliseconds, or rejects with the signal's reason when that aborts first. */
export type After = (ms: number, signal: AbortSignal) => Promise<void>;

/** The host's clock. What a prompt says about time comes from `settings.now`, never from here. */
export interface Clock {
  /** Milliseconds, monotonic; for stage timings. */
  now(): number;
  /** Bounds how long plugins, strategies and summarisers may take. Absent = they are bounded by the signal alone. */
  after?: After;
}
