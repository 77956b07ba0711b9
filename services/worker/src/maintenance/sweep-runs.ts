import { performance } from "node:perf_hooks";
import { findRunsOfWorker, heartbeat, type Db, type HeldRun, type WorkerRow } from "@shiftwork/db";
import type { ActiveRuns } from "../generation/active-runs.ts";

/**
 * Says that this worker lives, and compares its runs with what the database says: an accepted cancel whose signal was
 * lost, a run that was taken away while this process slept, and a run this process gave up are found here at the latest; the last are returned.
 * No write depends on its coming first: each asks for its fence in the same transaction. Only what is paid for waits for it.
 */
export async function sweepRuns(db: Db, worker: WorkerRow, activeRuns: ActiveRuns): Promise<readonly HeldRun[]> {
  const startedAt = performance.now();
  await heartbeat(db, worker);
  const held = new Map((await findRunsOfWorker(db, worker.id)).map((run) => [run.generationId, run]));
  for (const run of activeRuns.list()) {
    // Claimed after the question was asked: the answer knows nothing of it.
    if (run.fence === null || run.claimedAtMs >= startedAt) continue;
    const row = held.get(run.generationId);
    if (row?.fence !== run.fence) activeRuns.abort(run.generationId, "fenced");
    else if (row.cancelRequested) activeRuns.abort(run.generationId, "cancelled");
  }
  const here = new Set(activeRuns.list().map((run) => run.generationId));
  return [...held.values()].filter((run) => !here.has(run.generationId));
}
