import { findVectors, withTenant } from "@shiftwork/db";
import { recallTexts, type AssemblySettings, type Conversation, type RecallVectors } from "@shiftwork/pipeline";
import {
  bringVectors,
  createEmbedder,
  isCallOverNetwork,
  questionWaitMs,
  type EmbeddingProvider,
  type RecallChoice,
  type VectorCache,
} from "@shiftwork/providers";
import type { PreviewHost } from "./preview-turn.ts";

/** What a process that previews computes vectors with; it stores none. */
export interface PreviewVectors {
  readonly useLite: EmbeddingProvider;
  readonly cache: VectorCache;
}

/** Nobody is called. */
const NO_CALL = { masterKey: null, timeouts: { connectTimeoutMs: 0, idleTimeoutMs: 0 } };

/**
 * The vectors a generation of this turn would find stored; the question's own are computed where a generation computes them
 * itself. Nothing is written, nothing asked for. `null` = the built-in ones.
 */
export async function recallForPreview(
  { db, caller, vectors }: PreviewHost,
  choice: RecallChoice | null,
  conversation: Conversation,
  variants: readonly AssemblySettings[],
  signal: AbortSignal,
): Promise<RecallVectors | null> {
  const [first] = variants;
  const settings = variants.find(({ contextStrategy }) => contextStrategy === "vector-recall") ?? first;
  if (choice === null || settings === undefined) return null;
  const { tenantId } = caller;
  const { recall } = await bringVectors({
    tenantId,
    provider: createEmbedder(choice, tenantId, { ...NO_CALL, useLite: vectors.useLite }),
    texts: recallTexts(conversation, settings),
    cache: vectors.cache,
    read: (keys) => withTenant(db, tenantId, (tx) => findVectors(tx, tenantId, keys)),
    questionWaitMs: isCallOverNetwork(choice.setting) ? 0 : questionWaitMs(choice.setting),
    signal,
  });
  return recall;
}
