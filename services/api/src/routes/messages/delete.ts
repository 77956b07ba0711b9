import { deleteMessage as deleteRow, withTenant } from "@shiftwork/db";
import { forgetMessage } from "../../context/forget-message.ts";
import { forgetFrames } from "../../generations/forget-frames.ts";
import { requireIdleChat } from "../../generations/require-idle-chat.ts";
import { endpoint } from "../endpoint.ts";
import { lockMessage } from "./lock-message.ts";

export const deleteMessage = endpoint({
  method: "DELETE",
  path: "/api/v2/chats/:chatId/messages/:messageId",
  tag: "Chats",
  summary: "Delete a message and what else holds its text; of variants, the newest other one takes its place",
  scope: "chats:write",
  result: null,
  statuses: [204],
  errors: ["CHAT_NOT_FOUND", "MESSAGE_NOT_FOUND", "CHAT_BUSY"],
  handle: async (deps, call) => {
    const { tenantId } = call.caller;
    const streamed = await withTenant(deps.db, tenantId, async (tx) => {
      const message = await lockMessage(tx, call);
      await requireIdleChat(tx, tenantId, message.chatId);
      const generationIds = await forgetMessage(tx, tenantId, message);
      await deleteRow(tx, tenantId, message);
      return generationIds;
    });
    await forgetFrames(deps, tenantId, streamed);
    return { status: 204, body: null };
  },
});
