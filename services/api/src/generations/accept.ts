import type { CreateGeneration } from "@shiftwork/contracts";
import { appendUserMessage, insertGeneration, type StoppedGeneration, type Tx } from "@shiftwork/db";
import { defaultSeed, type ContextStrategyRegistry } from "@shiftwork/pipeline";
import { uuidv7 } from "uuidv7";
import type { Caller } from "../auth/caller.ts";
import { fieldProblem } from "../errors.ts";
import { enterChat, type Entry } from "./enter-chat.ts";
import { resolveTurn, type ResolvedTurn } from "./resolve-turn.ts";

export interface AcceptedBy {
  readonly caller: Caller;
  readonly requestId: string;
  readonly strategies: ContextStrategyRegistry;
  /** True = the caller's transaction ends with `dispatchAtOnce`: what nobody has to wait for skips the dispatcher. */
  readonly handsOver?: boolean;
}

export interface Accepted {
  /** The generation's uuid. */
  readonly id: string;
  /** Cancelled for it while they waited: to be taken out of the queue after the commit. */
  readonly stopped: readonly StoppedGeneration[];
}

/** Accepts a turn in the caller's transaction: user message and generation row (= the outbox) commit together. */
export async function acceptGeneration(
  tx: Tx,
  by: AcceptedBy,
  chatId: string,
  body: CreateGeneration,
): Promise<Accepted> {
  const { caller } = by;
  const now = new Date();
  requireSameChatLater(body);
  const entry = await enterChat(tx, caller, chatId, body.onBusy);
  requireOwnMessage(body, entry);
  const { chat, predecessorId, stopped } = entry;
  const turn = await resolveTurn(tx, { caller, strategies: by.strategies, now }, chat, withSeed(body, entry));
  const input = await placeInput(tx, caller, entry, turn);
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
    ...input,
    targetMessageId: turn.targetMessageId,
    retryOf: null,
    deadlineAt: new Date(now.getTime() + body.deadlineMs),
    priority: body.priority,
    blockedBy: predecessorId,
    handsOver: by.handsOver ?? false,
    metadata: body.metadata,
    requestId: by.requestId,
    request: turn.request,
  });
  return { id, stopped };
}

/** A turn that may wait, or ends what another writes, cannot promise what the chat will look like. */
function requireSameChatLater({ assembly, onBusy }: CreateGeneration): void {
  if (assembly === undefined || onBusy === "reject") return;
  const text = `A preview's promise cannot be kept with onBusy "${onBusy}": the chat may change before the turn's time comes.`;
  const fix = 'Leave assembly out, or use onBusy "reject".';
  throw fieldProblem("VALIDATION_FAILED", "/assembly", text, fix);
}

/** Behind a reply that is not there yet, there is nothing to answer but a message of one's own. */
function requireOwnMessage({ message, action, onBusy }: CreateGeneration, { predecessorId }: Entry): void {
  if (message !== undefined || onBusy !== "queue" || predecessorId === null) return;
  if (action !== "reply") {
    const text = `The action ${action} cannot wait for a turn that may change what it answers.`;
    throw fieldProblem("VALIDATION_FAILED", "/onBusy", text, 'Use "reject" or "supersede".');
  }
  const text = "A turn that waits for another one needs a message of its own.";
  const fix = 'Send a message, or have the last one answered anew with onBusy "supersede".';
  throw fieldProblem("VALIDATION_FAILED", "/message", text, fix, "required");
}

/** The message a turn hangs on is not there yet when it waits: the one it waits for makes its seed its own. */
function withSeed(body: CreateGeneration, { chat, predecessorId }: Entry): CreateGeneration {
  if (body.message === undefined || body.seed !== undefined || predecessorId === null) return body;
  return { ...body, seed: defaultSeed(chat.id, predecessorId) };
}

/** The message that is answered: one that stands there already, or the new one, stored, or pending while the turn waits. */
async function placeInput(tx: Tx, { tenantId }: Caller, { chat, predecessorId }: Entry, turn: ResolvedTurn) {
  const { inputMessageId, draft } = turn;
  if (draft === null) return { inputMessageId, branch: chat.activeBranch, pendingMessage: null };
  if (predecessorId !== null) return { inputMessageId: null, pendingMessage: draft };
  return { inputMessageId: await appendUserMessage(tx, tenantId, chat.id, draft), pendingMessage: null };
}
