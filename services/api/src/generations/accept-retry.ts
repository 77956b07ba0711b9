import { encodeId } from "@shiftwork/contracts";
import {
  findGenerationRequest,
  findMessage,
  findProvider,
  insertGeneration,
  isLastInput,
  readStandingSettings,
  type GenerationRow,
  type Tx,
} from "@shiftwork/db";
import { uuidv7 } from "uuidv7";
import { HttpProblem, notFound } from "../errors.ts";
import { visibleGeneration } from "../routes/visible.ts";
import { openChat, type AcceptedBy } from "./accept.ts";
import { checkedSettings } from "./resolve-turn.ts";
import { waitsForReply } from "./waits-for-reply.ts";

/**
 * Accepts another run of a failed or cancelled generation on today's data: the same input message, model and seed, a new
 * clock. Its reply becomes a sibling of the earlier one. Returns the new generation's uuid.
 */
export async function acceptRetry(tx: Tx, by: AcceptedBy, generationId: string): Promise<string> {
  const { caller } = by;
  const { tenantId } = caller;
  const earlier = await visibleGeneration(tx, caller, generationId);
  if (earlier.chatId === null) throw conflict("Its chat was deleted.");
  const chat = await openChat(tx, caller, earlier.chatId);
  requireRetryable(await visibleGeneration(tx, caller, generationId));
  const inputMessageId = await requireLastInput(tx, tenantId, chat.id, earlier.inputMessageId);
  const stored = await findGenerationRequest(tx, tenantId, earlier.id);
  if (!stored) throw conflict("Its request is not stored any more.");
  const provider = await findProvider(tx, tenantId, earlier.providerId);
  if (!provider) throw notFound("provider");
  const now = new Date();
  const request = { ...stored, now: now.toISOString(), expectedHash: null };
  const standing = await readStandingSettings(tx, tenantId, chat);
  checkedSettings({ request, row: earlier, ...standing, provider }, by.strategies);
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
    inputMessageId,
    retryOf: earlier.id,
    deadlineAt: new Date(now.getTime() + earlier.deadlineAt.getTime() - earlier.createdAt.getTime()),
    metadata: { ...earlier.metadata },
    requestId: by.requestId,
    request,
  });
  return id;
}

function requireRetryable({ id, status }: GenerationRow): void {
  if (status === "failed" || status === "cancelled") return;
  throw new HttpProblem("GENERATION_ALREADY_FINISHED", "Only a failed or cancelled generation can be retried.", {
    params: { generationId: encodeId("generation", id), status },
  });
}

/** The reply takes the place right behind its input; when the chat has moved on, that place is taken. */
async function requireLastInput(tx: Tx, tenantId: string, chatId: string, id: string | null): Promise<string> {
  const input = id === null ? null : await findMessage(tx, tenantId, chatId, id);
  if (!input) throw conflict("The message it answered is gone.");
  if (!waitsForReply(input)) throw conflict("The message it answered is hidden, blank, or not the chosen variant now.");
  if (await isLastInput(tx, tenantId, chatId, input)) return input.id;
  throw conflict("The chat has moved on since; send a new message instead.");
}

function conflict(detail: string): HttpProblem {
  return new HttpProblem("CONFLICT", detail);
}
