import { performance } from "node:perf_hooks";
import type { GenerationJob } from "@shiftwork/contracts";
import { claimGeneration, withTenant } from "@shiftwork/db";
import type { ActiveRun } from "./active-runs.ts";
import { finish } from "./finish.ts";
import { outcomeOf, type Outcome } from "./outcome.ts";
import { beginRun, type Run, type RunDependencies } from "./run-state.ts";
import { takeSteps } from "./step.ts";
import { stepsOf } from "./steps.ts";

/** One job: claim the generation, take the steps in order, finish with what came of them. */
export async function runGeneration(job: GenerationJob, deps: RunDependencies): Promise<Outcome> {
  // Opened before the claim: a cancel accepted right after it finds the run.
  const active = deps.activeRuns.open(job.generationId);
  try {
    const claim = await withTenant(deps.db, job.tenantId, (tx) => claimGeneration(tx, job, deps.workerId));
    if (!claim) return { kind: "nothing_to_run" };
    active.fence = claim.fence;
    active.claimedAtMs = performance.now();
    const run = beginRun(claim, active, deps);
    const deadline = abortAtDeadline(run, active, deps);
    try {
      return await finish(run, await outcomeOfSteps(run, deps), deps);
    } finally {
      clearTimeout(deadline);
    }
  } finally {
    deps.activeRuns.close(active);
  }
}

async function outcomeOfSteps(run: Run, deps: RunDependencies): Promise<Outcome> {
  try {
    await takeSteps(stepsOf(run.claim), run, deps);
    return { kind: "completed" };
  } catch (error) {
    // Whatever the abort made fail on its way, the abort is the reason.
    const reason = run.active.signal.aborted ? run.active.signal.reason : error;
    const outcome = outcomeOf(reason);
    if (outcome.kind === "failed" && outcome.error.code === "INTERNAL")
      run.log.error({ err: reason }, "run failed unexpectedly");
    return outcome;
  }
}

function abortAtDeadline(run: Run, active: ActiveRun, deps: RunDependencies): NodeJS.Timeout {
  const leftMs = run.claim.deadlineAt.getTime() - Date.now();
  return setTimeout(() => deps.activeRuns.abort(active.generationId, "deadline"), Math.max(0, leftMs));
}
