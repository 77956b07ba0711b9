import { recordCountSample, withTenant, type CalibrationPlace } from "@shiftwork/db";
import { reportedPromptTokens, type CountSample } from "@shiftwork/pipeline";
import type { Run, RunDependencies } from "./run-state.ts";

/** Learns from a completed run how far its estimate was from what the provider reports. That it cannot is no failure. */
export async function learnCounts(run: Run, deps: Pick<RunDependencies, "db">): Promise<void> {
  const learned = comparison(run);
  if (learned === null) return;
  const { tenantId } = run.claim;
  try {
    await withTenant(deps.db, tenantId, (tx) => recordCountSample(tx, tenantId, learned.place, learned.sample));
  } catch (error) {
    run.log.warn({ err: error }, "nothing was learned from what the provider reported");
  }
}

/**
 * What was estimated and what was reported of the same request; `null` = nothing was estimated, or the two cannot be
 * compared: a request sent again is an older one's, and a provider that refused one has other limits than its tokenizer.
 */
function comparison({
  claim,
  assembly,
  prompt,
  facts,
}: Run): { readonly place: CalibrationPlace; readonly sample: CountSample } | null {
  if (claim.replay !== null || assembly === null || prompt === null) return null;
  const { profile } = assembly.counter;
  const { budget, refusedRequests = [] } = prompt.document;
  const reportedTokens = reportedPromptTokens(facts.usage);
  if (!profile.approximate || refusedRequests.length > 0) return null;
  if (budget.promptTokens === null || reportedTokens === null) return null;
  const { providerId, model } = claim;
  return {
    place: { providerId, model, profile: profile.id, profileVersion: profile.version },
    sample: { estimatedTokens: budget.promptTokens, factor: profile.calibration?.factor ?? 1, reportedTokens },
  };
}
