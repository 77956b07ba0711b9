/** What a queue job holds: ids only. The generation row is the truth; `epoch` counts its dispatches. */
export interface GenerationJob {
  readonly tenantId: string;
  readonly generationId: string;
  readonly epoch: number;
}

/** Queue job id. The bare generation id is a trap: a retained failed job of that id makes a re-dispatch a silent no-op. */
export function jobId(job: Pick<GenerationJob, "generationId" | "epoch">): string {
  return `${job.generationId}.${job.epoch}`;
}
