import { encodeId, type RetryMode, type RetryObstacle } from "@shiftwork/contracts";
import {
  attachPendingMessage,
  branchPath,
  findGenerationContents,
  findMessage,
  findProvider,
  insertGeneration,
  isLastInput,
  isOnPath,
  markRetried,
  readStandingSettings,
  type BranchPath,
  type ChatRow,
  type GenerationContents,
  type GenerationRow,
  type MessageRow,
  type ProviderRow,
  type Tx,
} from "@shiftwork/db";
import { uuidv7 } from "uuidv7";
import { HttpProblem, notFound } from "../errors.ts";
import { visibleGeneration } from "../routes/visible.ts";
import { chooseCounting } from "../tokenizers/choose-counting.ts";
import type { Accepted, AcceptedBy } from "./accept.ts";
import { enterChat } from "./enter-chat.ts";
import { replayedRequest } from "./replayed-request.ts";
import { checkedSettings } from "./resolve-turn.ts";
import { waitsForReply } from "./waits-for-reply.ts";

/**
 * Accepts another run of a failed or cancelled generation: the same input message, model and seed. `rebuild` assembles
 * it from today's data under a new clock, `replay` sends the request of its audit again. Its reply becomes a sibling of
 * the earlier one.
 */
export async function acceptRetry(
  tx: Tx,
  by: AcceptedBy,
  generationId: string,
  mode: RetryMode = "rebuild",
): Promise<Accepted> {
  const { caller } = by;
  const { tenantId } = caller;
  const { chatId } = await visibleGeneration(tx, caller, generationId);
  if (chatId === null) throw conflict("not_stored", "Its chat was deleted.");
  const { chat, stopped } = await enterChat(tx, caller, chatId, "reject");
  const earlier = await visibleGeneration(tx, caller, generationId);
  requireRetryable(earlier);
  const provider = await findProvider(tx, tenantId, earlier.providerId);
  if (!provider) throw notFound("provider");
  const now = new Date();
  const contents = await contentsOf(tx, by, { chat, earlier, provider, mode, now });
  const place = await requirePlace(tx, await branchPath(tx, tenantId, chat.id, chat.activeBranch), earlier);
  const id = uuidv7();
  await insertGeneration(tx, tenantId, {
    id,
    chatId: chat.id,
    ownerId: chat.ownerId,
    action: earlier.action,
    providerId: provider.id,
    providerKind: provider.kind,
    model: earlier.model,
    strategy: earlier.strategy,
    seed: earlier.seed,
    branch: chat.activeBranch,
    ...place,
    retryOf: earlier.id,
    deadlineAt: new Date(now.getTime() + earlier.deadlineAt.getTime() - earlier.createdAt.getTime()),
    priority: earlier.priority,
    handsOver: by.handsOver ?? false,
    metadata: { ...earlier.metadata },
    requestId: by.requestId,
    ...contents,
  });
  await markRetried(tx, tenantId, earlier.id);
  return { id, stopped };
}

function requireRetryable({ id, status }: GenerationRow): void {
  if (status === "failed" || status === "cancelled") return;
  throw new HttpProblem("GENERATION_ALREADY_FINISHED", "Only a failed or cancelled generation can be retried.", {
    params: { generationId: encodeId("generation", id), status },
  });
}

interface Retry {
  readonly chat: ChatRow;
  readonly earlier: GenerationRow;
  readonly provider: ProviderRow;
  readonly mode: RetryMode;
  readonly now: Date;
}

async function contentsOf(
  tx: Tx,
  { caller: { tenantId }, strategies }: AcceptedBy,
  { chat, earlier, provider, mode, now }: Retry,
): Promise<GenerationContents> {
  const stored = await findGenerationContents(tx, tenantId, earlier.id);
  if (!stored) throw conflict("not_stored", "Its request is not stored any more.");
  if (mode === "replay") {
    const replay = stored.replay ?? (await replayedRequest(tx, tenantId, chat.id, earlier.id));
    return { request: stored.request, replay };
  }
  const counting = await chooseCounting(tx, tenantId, { providerId: provider.id, model: earlier.model });
  const request = { ...stored.request, now: now.toISOString(), expectedHash: null, counting };
  checkedSettings({ request, row: earlier, ...(await readStandingSettings(tx, tenantId, chat)), provider }, strategies);
  return { request, replay: null };
}

/** What is answered once more and where the reply stands; throws when the chat has no place for it now. */
async function requirePlace(
  tx: Tx,
  path: BranchPath,
  earlier: GenerationRow,
): Promise<{ inputMessageId: string; targetMessageId: string | null }> {
  const input = await requireInput(tx, path, earlier);
  return { inputMessageId: input.id, targetMessageId: await requireTarget(tx, path, earlier, input) };
}

/** A turn that ended while it waited never had its message in the chat: that takes its place now. */
async function requireInput(tx: Tx, path: BranchPath, earlier: GenerationRow): Promise<MessageRow> {
  const { tenantId, chatId } = path;
  const id = earlier.inputMessageId ?? (await attachPendingMessage(tx, tenantId, chatId, earlier.id));
  const input = id === null ? null : await findMessage(tx, tenantId, chatId, id);
  if (!input) throw conflict("message_gone", "The message it answered is gone.");
  if (!waitsForReply(input))
    throw conflict("message_left_out", "The message it answered is hidden, blank, or not the chosen variant now.");
  if (isOnPath(path, input)) return input;
  throw conflict(
    "other_branch",
    `The message it answered is not on the active branch; activate one it is on, such as ${input.branch}.`,
  );
}

/**
 * The reply the new one stands beside: what a stopped run left, else what that run stood beside itself. Null = it takes the
 * place right behind its input; when the chat has moved on, that place is taken.
 */
async function requireTarget(
  tx: Tx,
  path: BranchPath,
  { action, outputMessageId, targetMessageId }: GenerationRow,
  input: MessageRow,
): Promise<string | null> {
  const beside = action === "reply" ? [] : [outputMessageId, targetMessageId];
  for (const id of beside) {
    const target = id === null ? null : await findMessage(tx, path.tenantId, path.chatId, id);
    if (target && isOnPath(path, target)) return target.id;
  }
  if (await isLastInput(tx, path, input)) return null;
  throw conflict("chat_moved_on", "The chat has moved on since; send a new message instead.");
}

function conflict(reason: RetryObstacle, detail: string): HttpProblem {
  return new HttpProblem("CONFLICT", detail, { params: { reason } });
}
