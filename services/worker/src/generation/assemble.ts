import { keepGenerationSummary } from "@shiftwork/db";
import { runStage, STAGES, type Stage } from "@shiftwork/pipeline";
import { summaryCost } from "@shiftwork/providers";
import { inTenant } from "./in-tenant.ts";
import { requireLease } from "./require-lease.ts";
import type { Run, RunDependencies } from "./run-state.ts";
import { present, type Step } from "./step.ts";

const SHIFT = STAGES.findIndex(({ name }) => name === "shift");
const CHECKPOINT: Step = { name: "checkpoint", deadlineMs: 30_000, run: checkpoint };

/** The pipeline's stages up to the counted blocks. */
export const PREPARE: readonly Step[] = STAGES.slice(0, SHIFT).map(stepOf);

/** Its stages from there to the request; taken again, under a tighter budget, when the provider finds it too long. */
export const FIT: readonly Step[] = STAGES.slice(SHIFT).flatMap((stage) =>
  stage.name === "shift" ? [stepOf(stage), CHECKPOINT] : [stepOf(stage)],
);

function stepOf(stage: Stage): Step {
  return {
    name: stage.name,
    // `shift` may wait for a model: what it waits for is bounded where it is called.
    deadlineMs: stage.name === "shift" ? null : stage.deadlineMs,
    async run(run, deps) {
      const assembly = present(run.assembly);
      if (stage.name === "shift") run.unshifted = assembly;
      if (stage.name === "shift" && run.helper !== null) await requireLease(run, deps);
      run.assembly = await runStage(stage, assembly, run.active.signal);
    },
  };
}

/** Keeps a summary that was paid for, so that another attempt need not pay again, and lists its cost. */
async function checkpoint(run: Run, deps: RunDependencies): Promise<void> {
  const { helper, claim } = run;
  if (helper === null) return;
  const assembly = present(run.assembly);
  const cost = summaryCost(assembly.summary, helper);
  if (cost !== null) run.assembly = { ...assembly, diagnostics: [...assembly.diagnostics, cost] };
  const { sourceHash = null, text = "" } = assembly.summary ?? {};
  if (sourceHash === null || helper.calls.length === 0) return;
  await inTenant(deps, claim.tenantId, (tx) => keepGenerationSummary(tx, claim, { sourceHash, text }));
}
