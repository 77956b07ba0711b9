import { MessageObject } from "@shiftwork/contracts";
import { chooseVariant } from "@shiftwork/db";
import { answerOnce } from "../../answer-once.ts";
import { HttpProblem } from "../../errors.ts";
import { requireIdleChat } from "../../generations/require-idle-chat.ts";
import { endpoint, ok } from "../endpoint.ts";
import { lockMessage } from "./lock-message.ts";
import { messageObject } from "./message-object.ts";

export const selectMessage = endpoint({
  method: "POST",
  path: "/api/v2/chats/:chatId/messages/:messageId/select",
  tag: "Chats",
  summary: "Choose this variant of its position: the one the chat shows and sends",
  scope: "chats:write",
  result: MessageObject,
  statuses: [200],
  errors: ["CHAT_NOT_FOUND", "MESSAGE_NOT_FOUND", "CHAT_BUSY", "CONFLICT", "IDEMPOTENCY_KEY_REUSED"],
  handle: (deps, call) =>
    answerOnce(deps, call, async (tx) => {
      const { tenantId } = call.caller;
      const message = await lockMessage(tx, call);
      if (message.active) return ok(messageObject(message));
      if (message.failed) {
        throw new HttpProblem("CONFLICT", "It is what a failed run left, which is never sent; retry that run instead.");
      }
      await requireIdleChat(tx, tenantId, message.chatId);
      await chooseVariant(tx, tenantId, message);
      return ok(messageObject({ ...message, active: true }));
    }),
});
