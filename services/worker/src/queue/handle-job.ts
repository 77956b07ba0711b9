import { performance } from "node:perf_hooks";
import { encodeId } from "@shiftwork/contracts";
import type { JobHandler } from "@shiftwork/platform";
import { runGeneration } from "../generation/run.ts";
import type { RunDependencies } from "../generation/run-state.ts";

/**
 * One job in, its named outcome out. The queue's own abort signal is not used: losing a lock in Redis takes nothing away
 * that PostgreSQL's fence does not guard, and cancels reach the run by its id.
 */
export function createJobHandler(deps: RunDependencies): JobHandler {
  return async (job) => {
    const startedAt = performance.now();
    const outcome = await runGeneration(job, deps);
    deps.logger.info(
      {
        tenantId: encodeId("tenant", job.tenantId),
        generationId: encodeId("generation", job.generationId),
        outcome: outcome.kind,
        ...(outcome.kind === "failed" ? { errorCode: outcome.error.code } : {}),
        durationMs: Math.round(performance.now() - startedAt),
      },
      "generation done",
    );
  };
}
