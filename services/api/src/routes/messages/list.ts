import { MessageObject, MessageQuery, pageOf } from "@shiftwork/contracts";
import { listMessages as listRows, withTenant } from "@shiftwork/db";
import { numberCursor, pageAnswer } from "../../lists/cursor.ts";
import { endpoint } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { visibleChat } from "../visible.ts";
import { messageObject } from "./message-object.ts";

export const listMessages = endpoint({
  method: "GET",
  path: "/api/v2/chats/:chatId/messages",
  tag: "Chats",
  summary: "List the messages of a chat, in its order",
  scope: "chats:read",
  query: MessageQuery,
  result: pageOf(MessageObject),
  statuses: [200],
  errors: ["CHAT_NOT_FOUND", "INVALID_CURSOR", "UNKNOWN_PARAMETER"],
  handle: async (deps, call) => {
    const { tenantId } = call.caller;
    const chatId = pathId(call, "chat");
    const [seq = 0, variant = 0] = numberCursor(call, 2) ?? [];
    const page = {
      limit: call.query.limit + 1,
      after: call.query.cursor === undefined ? null : { seq, variant },
      allVariants: call.query.variants === "all",
    };
    const rows = await withTenant(deps.db, tenantId, async (tx) => {
      const chat = await visibleChat(tx, call.caller, chatId);
      return listRows(tx, tenantId, chat.id, page);
    });
    return pageAnswer(call, rows, { keyOf: (row) => [row.seq, row.variant], toItem: messageObject });
  },
});
