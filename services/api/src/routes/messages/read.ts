import { MessageObject } from "@shiftwork/contracts";
import { findMessage, withTenant } from "@shiftwork/db";
import { notFound } from "../../errors.ts";
import { tagged } from "../../settings/entity-tag.ts";
import { endpoint } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { visibleChat } from "../visible.ts";
import { messageObject } from "./message-object.ts";

export const readMessage = endpoint({
  method: "GET",
  path: "/api/v2/chats/:chatId/messages/:messageId",
  tag: "Chats",
  summary: "Read a message",
  scope: "chats:read",
  result: MessageObject,
  statuses: [200],
  errors: ["CHAT_NOT_FOUND", "MESSAGE_NOT_FOUND"],
  handle: async (deps, call) => {
    const { tenantId } = call.caller;
    const chatId = pathId(call, "chat");
    const row = await withTenant(deps.db, tenantId, async (tx) => {
      const chat = await visibleChat(tx, call.caller, chatId);
      return findMessage(tx, tenantId, chat.id, pathId(call, "message"));
    });
    if (!row) throw notFound("message");
    return tagged(messageObject(row));
  },
});
