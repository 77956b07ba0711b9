import { findVectors, insertVectors, requestEmbeddings, touchVectors, type Tx } from "@shiftwork/db";
import { recallTexts } from "@shiftwork/pipeline";
import { bringVectors, createEmbedder, questionWaitMs, type BroughtVectors } from "@shiftwork/providers";
import { inTenant } from "./in-tenant.ts";
import type { Run, RunDependencies } from "./run-state.ts";
import { present } from "./step.ts";
import { DatabaseAwayError } from "./while-database-is-away.ts";

/**
 * Brings the vectors that are there; what is not is asked for behind the run's back, and this turn goes by words there.
 * The built-in vectors are the pipeline's own business.
 */
export async function recall(run: Run, deps: RunDependencies): Promise<void> {
  if (run.recall === null) return;
  const { tenantId } = run.claim;
  const assembly = present(run.assembly);
  const { input } = assembly;
  const texts = recallTexts(input.conversation, input.settings);
  if (texts.texts.length === 0) return;
  const inTurn = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => inTenant(deps, tenantId, work);
  const brought = await bringVectors({
    tenantId,
    provider: createEmbedder(run.recall, tenantId, deps),
    texts,
    cache: deps.vectorCache,
    read: (keys) => inTurn((tx) => findVectors(tx, tenantId, keys)),
    questionWaitMs: questionWaitMs(run.recall.setting),
    signal: run.active.signal,
  });
  run.assembly = { ...assembly, input: { ...input, recall: brought.recall } };
  if (isAllKnown(brought)) return;
  const withLore = input.settings.contextStrategy === "vector-recall";
  await inTurn((tx) => keep(tx, run, brought, withLore)).catch((error: unknown) => goOnWithout(run, error));
}

function isAllKnown({ read, fresh, missing }: BroughtVectors): boolean {
  return read.length + fresh.length + missing === 0;
}

/** What the turn needs it has: only what ends it in any case, its abort or a database that is away, ends it here. */
function goOnWithout({ active, log }: Run, error: unknown): void {
  active.signal.throwIfAborted();
  if (error instanceof DatabaseAwayError) throw error;
  log.warn({ err: error }, "vectors could not be kept or asked for");
}

async function keep(tx: Tx, { claim }: Run, brought: BroughtVectors, withLore: boolean): Promise<void> {
  const { tenantId, chatId } = claim;
  await touchVectors(tx, tenantId, brought.read);
  await insertVectors(tx, tenantId, brought.fresh);
  if (brought.missing > 0) await requestEmbeddings(tx, tenantId, { chatId, withLore });
}
