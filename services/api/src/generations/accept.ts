import { type CreateGeneration } from "@shiftwork/contracts";
import {
  appendMessages,
  countQueued,
  findChatLocked,
  insertGeneration,
  readTenantLimits,
  type ChatRow,
  type Tx,
} from "@shiftwork/db";
import type { ContextStrategyRegistry } from "@shiftwork/pipeline";
import { uuidv7 } from "uuidv7";
import type { Caller } from "../auth/caller.ts";
import { HttpProblem, notFound } from "../errors.ts";
import { requireIdleChat } from "./require-idle-chat.ts";
import { resolveTurn, type ResolvedTurn } from "./resolve-turn.ts";

export interface AcceptedBy {
  readonly caller: Caller;
  readonly requestId: string;
  readonly strategies: ContextStrategyRegistry;
}

/**
 * Accepts a turn in the caller's transaction: user message and generation row (= the outbox) commit together. Returns the
 * generation's uuid.
 */
export async function acceptGeneration(
  tx: Tx,
  by: AcceptedBy,
  chatId: string,
  body: CreateGeneration,
): Promise<string> {
  const { caller } = by;
  const now = new Date();
  const chat = await openChat(tx, caller, chatId);
  const turn = await resolveTurn(tx, { caller, strategies: by.strategies, now }, chat, body);
  const inputMessageId = await storeInput(tx, caller, chat, turn);
  const id = uuidv7();
  await insertGeneration(tx, caller.tenantId, {
    id,
    chatId: chat.id,
    ownerId: chat.ownerId,
    action: body.action,
    providerId: turn.provider.id,
    providerKind: turn.provider.kind,
    model: turn.model,
    strategy: turn.strategy,
    seed: turn.seed,
    inputMessageId,
    retryOf: null,
    deadlineAt: new Date(now.getTime() + body.deadlineMs),
    metadata: body.metadata,
    requestId: by.requestId,
    request: turn.request,
  });
  return id;
}

/** The chat, locked, idle, and with room for it in the tenant's queue. */
export async function openChat(tx: Tx, caller: Caller, chatId: string): Promise<ChatRow> {
  const chat = await findChatLocked(tx, caller.tenantId, chatId, caller.ownerId);
  if (!chat) throw notFound("chat");
  await requireIdleChat(tx, caller.tenantId, chat.id);
  await requireRoomInQueue(tx, caller.tenantId);
  return chat;
}

async function requireRoomInQueue(tx: Tx, tenantId: string): Promise<void> {
  const { maxQueued } = await readTenantLimits(tx, tenantId);
  if ((await countQueued(tx, tenantId)) < maxQueued) return;
  throw new HttpProblem("QUEUE_FULL", "Too many generations of this tenant are waiting; try again.", {
    params: { maxQueued },
    retryAfterSeconds: 5,
  });
}

/** The message that is answered: the new one, stored, or the one that stands there already. */
async function storeInput(tx: Tx, caller: Caller, chat: ChatRow, turn: ResolvedTurn): Promise<string> {
  if (turn.inputMessageId !== null) return turn.inputMessageId;
  const id = uuidv7();
  await appendMessages(tx, caller.tenantId, chat.id, [
    {
      id,
      role: "user",
      content: turn.draft?.content ?? "",
      name: turn.draft?.name ?? null,
      toolCalls: [],
      toolCallId: null,
      pinned: false,
      hidden: false,
      meta: {},
      variant: 0,
      alternatives: [],
      createdAt: null,
    },
  ]);
  return id;
}
