import {
  dropEmbeddingRequest,
  findChat,
  findDueEmbeddingRequests,
  findKeysWithoutVector,
  insertVectors,
  loadAssemblyInput,
  postponeEmbeddingRequest,
  readStandingSettings,
  settleEmbeddingRequest,
  withTenant,
  type Db,
  type EmbeddingRequest,
  type Tx,
} from "@shiftwork/db";
import { recallTexts, type HistoryWindow } from "@shiftwork/pipeline";
import type { Logger } from "@shiftwork/platform";
import {
  createEmbedder,
  embeddingKey,
  findRecallChoice,
  ProviderError,
  toStored,
  type EmbedderHost,
  type EmbeddingProvider,
} from "@shiftwork/providers";
import { encodeId } from "@shiftwork/contracts";

export interface IndexOptions extends EmbedderHost {
  readonly db: Db;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Texts of one call and one transaction; what was computed stays, whatever becomes of the rest. */
const TEXTS_AT_ONCE = 96;
/** Chats worked on per pass, in all and of one tenant, and how long one that is busy is left alone. */
const DUE = { limit: 20, limitPerTenant: 5, busyAtMostMs: 300_000 };
/** Pauses double from the first to the last; then the request is given up until the next turn asks again. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 600_000;
const MOST_FAILURES = 12;

/**
 * Computes the vectors that turns went without, chat by chat, in the background: what can be recalled, and what was said
 * last. Tenants have their turn at the same time; a
 * provider that fails is asked again later. True = there may be more to do.
 */
export async function indexEmbeddings(options: IndexOptions): Promise<boolean> {
  const due = await findDueEmbeddingRequests(options.db, DUE);
  const tenants = new Map<string, EmbeddingRequest[]>();
  for (const request of due) tenants.set(request.tenantId, [...(tenants.get(request.tenantId) ?? []), request]);
  const passes = await Promise.allSettled([...tenants.values()].map((requests) => indexTenant(requests, options)));
  const failed = passes.find((pass) => pass.status === "rejected");
  if (failed) throw failed.reason;
  return due.length === DUE.limit;
}

/** A provider that has just failed is asked no further in this pass. */
async function indexTenant(requests: readonly EmbeddingRequest[], options: IndexOptions): Promise<void> {
  for (const request of requests) if (!(await indexChat(request, options))) return;
}

/** False = the provider failed. */
async function indexChat(request: EmbeddingRequest, options: IndexOptions): Promise<boolean> {
  options.signal.throwIfAborted();
  const inTenant = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => withTenant(options.db, request.tenantId, work);
  try {
    const found = await inTenant((tx) => textsWithoutVector(tx, request, options));
    if (found === null) {
      await inTenant((tx) => dropEmbeddingRequest(tx, request));
      return true;
    }
    const { embedder, texts } = found;
    for (let from = 0; from < texts.length; from += TEXTS_AT_ONCE) {
      const some = texts.slice(from, from + TEXTS_AT_ONCE);
      const vectors = await embedder.embed(some, options.signal);
      const rows = vectors.map((vector, index) => ({
        key: embeddingKey(embedder, some[index] ?? ""),
        vector: toStored(vector),
      }));
      await inTenant((tx) => insertVectors(tx, request.tenantId, rows));
    }
    await inTenant((tx) => settleEmbeddingRequest(tx, request));
    return true;
  } catch (error) {
    options.signal.throwIfAborted();
    await inTenant((tx) => comeBackLater(tx, request, error));
    options.logger.warn(
      { err: error, tenantId: encodeId("tenant", request.tenantId), failures: request.failures + 1 },
      "vectors could not be computed",
    );
    return false;
  }
}

/** `null` = there is no chat, or it recalls by vectors that are stored nowhere. */
async function textsWithoutVector(
  tx: Tx,
  { tenantId, chatId, withLore }: EmbeddingRequest,
  host: EmbedderHost,
): Promise<{ readonly embedder: EmbeddingProvider; readonly texts: readonly string[] } | null> {
  const chat = await findChat(tx, tenantId, chatId, null);
  const choice = chat && (await findRecallChoice(tx, tenantId, await readStandingSettings(tx, tenantId, chat)));
  if (!choice) return null;
  const stored = await loadAssemblyInput(tx, tenantId, {
    chatId,
    inputMessageId: null,
    draft: null,
    personaId: null,
    lorebookIds: null,
    window: LAST_WORDS,
  });
  if (!stored) return null;
  const contextStrategy = withLore ? "vector-recall" : "truncate";
  const { question, texts } = recallTexts(stored.conversation, { action: "reply", contextStrategy });
  const embedder = createEmbedder(choice, tenantId, host);
  const byKey = new Map([...question, ...texts].map((text) => [embeddingKey(embedder, text), text]));
  const without = await findKeysWithoutVector(tx, tenantId, [...byKey.keys()]);
  return { embedder, texts: without.map((key) => byKey.get(key as Buffer) ?? "").filter((text) => text !== "") };
}

/** As far back as both sides have said something. */
const LAST_WORDS: HistoryWindow = {
  bytes: 65_536,
  isEnough: (newest) =>
    ["user", "assistant"].every((role) =>
      newest.some((message) => message.role === role && !message.hidden && message.content.trim() !== ""),
    ),
};

async function comeBackLater(tx: Tx, request: EmbeddingRequest, error: unknown): Promise<void> {
  if (request.failures + 1 >= MOST_FAILURES) return dropEmbeddingRequest(tx, request);
  const told = error instanceof ProviderError ? (error.retryAfterMs ?? 0) : 0;
  // What trying again cannot help may be put right by a person.
  const isHopeless = error instanceof ProviderError && !error.retryable;
  const pauseMs = isHopeless ? LONGEST_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** request.failures);
  await postponeEmbeddingRequest(tx, request, Math.max(told, pauseMs));
}
