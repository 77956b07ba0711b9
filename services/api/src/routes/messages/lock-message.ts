import { findChatLocked, findMessage, type MessageRow, type Tx } from "@shiftwork/db";
import { notFound } from "../../errors.ts";
import type { Call } from "../endpoint.ts";
import { pathId } from "../ids.ts";

/** The message a path names, with its chat locked: messages change under that lock only. */
export async function lockMessage(tx: Tx, call: Pick<Call, "caller" | "params">): Promise<MessageRow> {
  const { tenantId, ownerId } = call.caller;
  const chat = await findChatLocked(tx, tenantId, pathId(call, "chat"), ownerId);
  if (!chat) throw notFound("chat");
  const message = await findMessage(tx, tenantId, chat.id, pathId(call, "message"));
  if (!message) throw notFound("message");
  return message;
}
