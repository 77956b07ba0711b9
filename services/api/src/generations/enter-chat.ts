import type { OnBusy } from "@shiftwork/contracts";
import {
  countQueued,
  findActiveChain,
  findChatLocked,
  readTenantLimits,
  requestCancel,
  type GenerationInLine,
  type ChatRow,
  type StoppedGeneration,
  type Tx,
} from "@shiftwork/db";
import type { Caller } from "../auth/caller.ts";
import { HttpProblem, notFound } from "../errors.ts";
import { chatBusy } from "./require-idle-chat.ts";

/** A turn's place in its chat. */
export interface Entry {
  readonly chat: ChatRow;
  /** The generation that has to end before this turn's begins; `null` = it may begin. */
  readonly predecessorId: string | null;
  /** What waited and was cancelled for it; out of the queue with it once this is committed. */
  readonly stopped: readonly StoppedGeneration[];
}

/** Locks the chat and finds the turn's place in it, as `onBusy` says, and room for it in the tenant's queue. */
export async function enterChat(tx: Tx, caller: Caller, chatId: string, onBusy: OnBusy): Promise<Entry> {
  const chat = await findChatLocked(tx, caller.tenantId, chatId, caller.ownerId);
  if (!chat) throw notFound("chat");
  const chain = await findActiveChain(tx, caller.tenantId, chat.id);
  const place = await findPlace(tx, caller.tenantId, chain, onBusy);
  await requireRoomInQueue(tx, caller.tenantId);
  return { chat, ...place };
}

type Place = Omit<Entry, "chat">;

async function findPlace(tx: Tx, tenantId: string, chain: readonly GenerationInLine[], onBusy: OnBusy): Promise<Place> {
  const [head] = chain;
  if (!head) return { predecessorId: null, stopped: [] };
  switch (onBusy) {
    case "reject":
      throw chatBusy(head);
    case "queue":
      return { predecessorId: chain.at(-1)?.id ?? null, stopped: [] };
    case "supersede":
      return supersede(tx, tenantId, chain);
  }
}

/** The last one first: what is cancelled while it waits must not put its message into the chat on its way out. */
async function supersede(tx: Tx, tenantId: string, chain: readonly GenerationInLine[]): Promise<Place> {
  const stopped: StoppedGeneration[] = [];
  let predecessorId: string | null = null;
  for (const { id } of chain.toReversed()) {
    const cancel = await requestCancel(tx, tenantId, id, "superseded");
    if (cancel.outcome === "cancelled") stopped.push({ generationId: id, epoch: cancel.epoch });
    else predecessorId = id;
  }
  return { predecessorId, stopped };
}

async function requireRoomInQueue(tx: Tx, tenantId: string): Promise<void> {
  const { maxQueued } = await readTenantLimits(tx, tenantId);
  if ((await countQueued(tx, tenantId)) < maxQueued) return;
  throw new HttpProblem("QUEUE_FULL", "Too many generations of this tenant are waiting; try again.", {
    params: { maxQueued },
    retryAfterSeconds: 5,
  });
}
