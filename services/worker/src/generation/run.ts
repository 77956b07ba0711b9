import { performance } from "node:perf_hooks";
import { problem, type GenerationJob } from "@shiftwork/contracts";
import { claimGeneration, withTenant } from "@shiftwork/db";
import type { ActiveRun } from "./active-runs.ts";
import { finish } from "./finish.ts";
import { outcomeOf, RunFailed, type Outcome } from "./outcome.ts";
import { beginRun, type Run, type RunDependencies } from "./run-state.ts";
import { STEPS, type Step } from "./steps.ts";

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
      return await finish(run, await takeSteps(run, deps), deps);
    } finally {
      clearTimeout(deadline);
    }
  } finally {
    deps.activeRuns.close(active);
  }
}

async function takeSteps(run: Run, deps: RunDependencies): Promise<Outcome> {
  try {
    for (const step of STEPS) {
      run.active.signal.throwIfAborted();
      const startedAt = performance.now();
      await withinDeadline(step, step.run(run, deps));
      run.log.debug({ step: step.name, durationMs: Math.round(performance.now() - startedAt) }, "step done");
    }
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

async function withinDeadline(step: Step, work: Promise<void>): Promise<void> {
  if (step.deadlineMs === null) return work;
  const { deadlineMs, name } = step;
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new RunFailed(problem("INTERNAL", `The step ${name} took longer than ${deadlineMs} ms.`))),
      deadlineMs,
    );
  });
  try {
    await Promise.race([work, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

function abortAtDeadline(run: Run, active: ActiveRun, deps: RunDependencies): NodeJS.Timeout {
  const leftMs = run.claim.deadlineAt.getTime() - Date.now();
  return setTimeout(() => deps.activeRuns.abort(active.generationId, "deadline"), Math.max(0, leftMs));
}
