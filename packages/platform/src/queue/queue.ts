import type { GenerationJob } from "@shiftwork/contracts";

/** A job's state as the dispatcher and the reconciler need it. `gone` = the queue does not know it or is done with it. */
export type JobState = "waiting" | "active" | "gone";

export interface QueuedJob extends GenerationJob {
  /** 1 = first. Never 0: unprioritised jobs overtake every prioritised one. */
  readonly priority: number;
}

/** Runs one job. Returns nothing: results live in PostgreSQL, return values would only fill the queue's store. */
export type JobHandler = (job: GenerationJob, signal: AbortSignal) => Promise<void>;

/**
 * The dispatch buffer. Rebuildable: losing all of it costs a re-dispatch, never a generation. `add` is idempotent by
 * `<generationId>.<epoch>`.
 */
export interface Queue {
  readonly backend: "redis" | "postgres";
  add(jobs: readonly QueuedJob[]): Promise<void>;
  state(job: Pick<GenerationJob, "generationId" | "epoch">): Promise<JobState>;
  /** Removes a job that still waits; true if this call removed it. */
  remove(job: Pick<GenerationJob, "generationId" | "epoch">): Promise<boolean>;
  consume(handler: JobHandler, options: ConsumeOptions): Promise<QueueConsumer>;
  close(): Promise<void>;
}

export interface ConsumeOptions {
  /** Jobs run at once. */
  readonly concurrency: number;
  /** A job whose lock is not renewed for this long is handed out again. Default 15,000. */
  readonly lockDurationMs?: number;
  readonly onError: (error: Error) => void;
}

export interface QueueConsumer {
  /** Aborts the running job's signal; false when it does not run here. */
  cancel(job: Pick<GenerationJob, "generationId" | "epoch">, reason: string): boolean;
  /** Takes no new job; running ones go on. */
  pause(): Promise<void>;
  /** Takes jobs again, also while some of before the pause still run. Does nothing once it is closed. */
  resume(): Promise<void>;
  /** Resolves when every running job has ended. Safe twice. */
  close(): Promise<void>;
}
