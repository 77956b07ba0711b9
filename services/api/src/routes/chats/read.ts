import { ChatObject } from "@shiftwork/contracts";
import { withTenant } from "@shiftwork/db";
import { endpoint, ok } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { visibleChat } from "../visible.ts";
import { chatObject } from "./chat-object.ts";

export const readChat = endpoint({
  method: "GET",
  path: "/api/v2/chats/:chatId",
  tag: "Chats",
  summary: "Read a chat, without its messages",
  scope: "chats:read",
  result: ChatObject,
  statuses: [200],
  errors: ["CHAT_NOT_FOUND"],
  handle: async (deps, call) => {
    const id = pathId(call, "chat");
    return ok(chatObject(await withTenant(deps.db, call.caller.tenantId, (tx) => visibleChat(tx, call.caller, id))));
  },
});
