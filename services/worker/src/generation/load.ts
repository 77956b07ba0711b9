import { chooseSummarizer, problem, resolveSettings } from "@shiftwork/contracts";
import {
  findChat,
  findGenerationSummary,
  findProvider,
  listProviders,
  loadAssemblyInput,
  readStandingSettings,
  type ProviderRow,
  type Tx,
} from "@shiftwork/db";
import { historyWindow, startAssembly, type AssemblySettings, type Profile } from "@shiftwork/pipeline";
import { hostClock } from "@shiftwork/platform";
import { createSummariser, findRecallChoice, providerTarget, type CallingSummariser } from "@shiftwork/providers";
import { RunAborted } from "./active-runs.ts";
import { RunFailed } from "./outcome.ts";
import type { Run, RunDependencies } from "./run-state.ts";

/** Reads everything the prompt is made of, in the caller's one transaction. `profile` counts for its model. */
export async function loadRun(tx: Tx, run: Run, deps: RunDependencies, profile: Profile): Promise<void> {
  const { claim } = run;
  const { tenantId, chatId, request } = claim;
  const provider = await findProvider(tx, tenantId, claim.providerId);
  if (!provider)
    throw new RunFailed(problem("PROVIDER_NOT_FOUND", "The provider was removed after the request was accepted."));
  const standing = await readStandingSettings(tx, tenantId, await findChat(tx, tenantId, chatId, null));
  const settings = resolveSettings({ request, row: claim, ...standing, provider });
  const { strategies, interceptors } = deps.plugins;
  const stored = await loadAssemblyInput(tx, tenantId, {
    chatId,
    inputMessageId: claim.inputMessageId,
    draft: null,
    personaId: request.personaId,
    lorebookIds: request.lorebookIds,
    window: historyWindow([settings], strategies, profile),
  });
  // The chat was deleted under the run: the row no longer names it, so nothing can be written either.
  if (!stored) throw new RunAborted("fenced");
  const helper = await findSummariser(tx, run, settings, provider, deps);
  const { summariser = null } = helper ?? {};
  run.provider = provider;
  run.helper = helper;
  run.recall = await findRecallChoice(tx, tenantId, standing);
  run.assembly = startAssembly({
    ...stored,
    settings,
    profile,
    strategies,
    interceptors,
    summariser,
    clock: hostClock,
  });
}

/** `null` = the strategy has no summaries written, or their provider was removed: then it goes on without. */
async function findSummariser(
  tx: Tx,
  { claim }: Run,
  settings: AssemblySettings,
  own: ProviderRow,
  deps: RunDependencies,
): Promise<CallingSummariser | null> {
  if (settings.contextStrategy !== "compress") return null;
  const { tenantId, generationId } = claim;
  const chosen = chooseSummarizer(settings, own, await listProviders(tx, tenantId));
  return (
    chosen &&
    createSummariser({
      chosen,
      target: () => providerTarget(tenantId, chosen.provider, deps.masterKey),
      stored: await findGenerationSummary(tx, tenantId, generationId),
      timeouts: deps.timeouts,
      timeoutMs: deps.summaryTimeoutMs,
    })
  );
}
