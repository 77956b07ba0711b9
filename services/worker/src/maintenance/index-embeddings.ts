import {
  dropEmbeddingRequest,
  findChat,
  findDueEmbeddingRequests,
  findKeysWithoutVector,
  insertVectors,
  loadAssemblyInput,
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
  toStored,
  type EmbedderHost,
  type EmbeddingProvider,
} from "@shiftwork/providers";
import { encodeId, type RecallSetting } from "@shiftwork/contracts";
import { comeBackLater } from "./come-back-later.ts";

export interface IndexOptions extends EmbedderHost {
  readonly db: Db;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Whether this process still leads: its successor computes the same vectors, and pays for them again. */
  readonly leads: () => Promise<boolean>;
}

/** Texts of one call and one transaction; what was computed stays, whatever becomes of the rest. */
const TEXTS_AT_ONCE = 96;
/** Chats worked on per pass, in all and of one tenant, and how long one that is busy is left alone. */
const DUE = { limit: 20, limitPerTenant: 5, busyAtMostMs: 300_000 };
/** What a call may take, and a tenant in a pass, each as a signal that aborts: all others wait for the slowest. */
export interface Patience {
  readonly call: () => AbortSignal;
  readonly tenant: () => AbortSignal;
}
const PATIENCE: Patience = { call: () => AbortSignal.timeout(60_000), tenant: () => AbortSignal.timeout(60_000) };

/**
 * Computes the vectors that turns went without, chat by chat, in the background: what can be recalled, and what was said
 * last. Tenants have their turn at the same time; a
 * provider that fails is asked again later. True = there may be more to do.
 */
export async function indexEmbeddings(options: IndexOptions, patience = PATIENCE): Promise<boolean> {
  const due = await findDueEmbeddingRequests(options.db, DUE);
  const tenants = new Map<string, EmbeddingRequest[]>();
  for (const request of due) tenants.set(request.tenantId, [...(tenants.get(request.tenantId) ?? []), request]);
  const passes = await Promise.allSettled(
    [...tenants.values()].map((requests) =>
      indexTenant(requests, { ...options, call: patience.call }, patience.tenant()),
    ),
  );
  const failed = passes.find((pass) => pass.status === "rejected");
  if (failed) throw failed.reason;
  const isCut = passes.some((pass) => pass.status === "fulfilled" && pass.value === "cut");
  return due.length === DUE.limit || isCut;
}

/** `cut` = its time in this pass is over, or the lead is lost; the rest stays due. */
type Progress = "done" | "failed" | "cut";
type CallOptions = IndexOptions & Pick<Patience, "call">;

/** A provider that has just failed is asked no further in this pass. */
async function indexTenant(
  requests: readonly EmbeddingRequest[],
  options: CallOptions,
  over: AbortSignal,
): Promise<Progress> {
  for (const [index, request] of requests.entries()) {
    // The first was looked for by a leader just now, and has its call however little time there is.
    if (index > 0 && (over.aborted || !(await options.leads()))) return "cut";
    const progress = await indexChat(request, options, over);
    if (progress !== "done") return progress;
  }
  return "done";
}

async function indexChat(request: EmbeddingRequest, options: CallOptions, over: AbortSignal): Promise<Progress> {
  options.signal.throwIfAborted();
  const inTenant = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => withTenant(options.db, request.tenantId, work);
  let setting: RecallSetting | null = null;
  try {
    const found = await inTenant((tx) => textsWithoutVector(tx, request, options));
    if (found === null) {
      await inTenant((tx) => dropEmbeddingRequest(tx, request));
      return "done";
    }
    const { embedder, texts } = found;
    setting = found.setting;
    for (let from = 0; from < texts.length; from += TEXTS_AT_ONCE) {
      if (from > 0 && over.aborted) return "cut";
      const some = texts.slice(from, from + TEXTS_AT_ONCE);
      const vectors = await embedder.embed(some, AbortSignal.any([options.signal, options.call()]));
      const rows = vectors.map((vector, index) => ({
        key: embeddingKey(embedder, some[index] ?? ""),
        vector: toStored(vector),
      }));
      await inTenant((tx) => insertVectors(tx, request.tenantId, rows));
    }
    await inTenant((tx) => settleEmbeddingRequest(tx, request));
    return "done";
  } catch (error) {
    options.signal.throwIfAborted();
    await inTenant((tx) => comeBackLater(tx, request, setting, error));
    options.logger.warn(
      { err: error, tenantId: encodeId("tenant", request.tenantId), failures: request.failures + 1 },
      "vectors could not be computed",
    );
    return "failed";
  }
}

/** A chat's choice, and those of its texts that it has no vector for. */
interface Wanted {
  readonly setting: RecallSetting;
  readonly embedder: EmbeddingProvider;
  readonly texts: readonly string[];
}

/** `null` = there is no chat, or it recalls by vectors that are stored nowhere. */
async function textsWithoutVector(
  tx: Tx,
  { tenantId, chatId, withLore }: EmbeddingRequest,
  host: EmbedderHost,
): Promise<Wanted | null> {
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
  const { setting } = choice;
  return {
    setting,
    embedder,
    texts: without.map((key) => byKey.get(key as Buffer) ?? "").filter((text) => text !== ""),
  };
}

/** As far back as both sides have said something. */
const LAST_WORDS: HistoryWindow = {
  bytes: 65_536,
  isEnough: (newest) =>
    ["user", "assistant"].every((role) =>
      newest.some((message) => message.role === role && !message.hidden && message.content.trim() !== ""),
    ),
};
