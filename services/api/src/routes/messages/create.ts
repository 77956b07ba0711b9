import { CreateMessage, encodeId, MessageObject } from "@shiftwork/contracts";
import { appendMessages, findChatLocked, findMessage } from "@shiftwork/db";
import { uuidv7 } from "uuidv7";
import { answerOnce } from "../../answer-once.ts";
import { notFound } from "../../errors.ts";
import { requireIdleChat } from "../../generations/require-idle-chat.ts";
import { created, endpoint } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { messageObject } from "./message-object.ts";

export const createMessage = endpoint({
  method: "POST",
  path: "/api/v2/chats/:chatId/messages",
  tag: "Chats",
  summary: "Append a message without generating a reply",
  scope: "chats:write",
  body: CreateMessage,
  result: MessageObject,
  statuses: [201],
  errors: ["CHAT_NOT_FOUND", "CHAT_BUSY", "IDEMPOTENCY_KEY_REUSED"],
  handle: (deps, call) =>
    answerOnce(deps, call, async (tx) => {
      const { tenantId, ownerId } = call.caller;
      const chat = await findChatLocked(tx, tenantId, pathId(call, "chat"), ownerId);
      if (!chat) throw notFound("chat");
      await requireIdleChat(tx, tenantId, chat.id);
      const id = uuidv7();
      await appendMessages(tx, tenantId, chat.id, [
        { ...call.body, id, variant: 0, alternatives: [], createdAt: null },
      ]);
      const row = await findMessage(tx, tenantId, chat.id, id);
      if (!row) throw notFound("message");
      const path = `/api/v2/chats/${encodeId("chat", chat.id)}/messages/${encodeId("message", id)}`;
      return created(path, messageObject(row));
    }),
});
