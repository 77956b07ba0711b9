import { deleteMessage as deleteRow, withTenant } from "@shiftwork/db";
import { requireIdleChat } from "../../generations/require-idle-chat.ts";
import { endpoint } from "../endpoint.ts";
import { lockMessage } from "./lock-message.ts";

export const deleteMessage = endpoint({
  method: "DELETE",
  path: "/api/v2/chats/:chatId/messages/:messageId",
  tag: "Chats",
  summary: "Delete a message; where it was the chosen variant, the newest other one takes its place",
  scope: "chats:write",
  result: null,
  statuses: [204],
  errors: ["CHAT_NOT_FOUND", "MESSAGE_NOT_FOUND", "CHAT_BUSY"],
  handle: async (deps, call) => {
    const { tenantId } = call.caller;
    await withTenant(deps.db, tenantId, async (tx) => {
      const message = await lockMessage(tx, call);
      await requireIdleChat(tx, tenantId, message.chatId);
      await deleteRow(tx, tenantId, message);
    });
    return { status: 204, body: null };
  },
});
