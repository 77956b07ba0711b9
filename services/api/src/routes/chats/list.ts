import { ChatObject, PageQuery, pageOf } from "@shiftwork/contracts";
import { listChats as listRows, withTenant } from "@shiftwork/db";
import { idCursor, pageAnswer } from "../../lists/cursor.ts";
import { endpoint } from "../endpoint.ts";
import { chatObject } from "./chat-object.ts";

export const listChats = endpoint({
  method: "GET",
  path: "/api/v2/chats",
  tag: "Chats",
  summary: "List chats, newest first",
  scope: "chats:read",
  query: PageQuery,
  result: pageOf(ChatObject),
  statuses: [200],
  errors: ["INVALID_CURSOR", "UNKNOWN_PARAMETER"],
  handle: async (deps, call) => {
    const { tenantId, ownerId } = call.caller;
    const page = { limit: call.query.limit + 1, afterId: idCursor(call) };
    const rows = await withTenant(deps.db, tenantId, (tx) => listRows(tx, tenantId, ownerId, page));
    return pageAnswer(call, rows, { keyOf: (row) => [row.id], toItem: chatObject });
  },
});
