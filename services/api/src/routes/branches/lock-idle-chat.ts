import { findChatLocked, type ChatRow, type Tx } from "@shiftwork/db";
import { notFound } from "../../errors.ts";
import { requireIdleChat } from "../../generations/require-idle-chat.ts";
import type { Call } from "../endpoint.ts";
import { pathId } from "../ids.ts";

/** The chat a path names, locked and idle: a reply finds its place on the branch that was active when it was asked for. */
export async function lockIdleChat(tx: Tx, call: Pick<Call, "caller" | "params">): Promise<ChatRow> {
  const { tenantId, ownerId } = call.caller;
  const chat = await findChatLocked(tx, tenantId, pathId(call, "chat"), ownerId);
  if (!chat) throw notFound("chat");
  await requireIdleChat(tx, tenantId, chat.id);
  return chat;
}
