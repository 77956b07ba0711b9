import { BranchObject, PageQuery, pageOf } from "@shiftwork/contracts";
import { listBranches as listRows, withTenant } from "@shiftwork/db";
import { numberCursor, pageAnswer } from "../../lists/cursor.ts";
import { endpoint } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { visibleChat } from "../visible.ts";
import { branchObject } from "./branch-object.ts";

export const listBranches = endpoint({
  method: "GET",
  path: "/api/v2/chats/:chatId/branches",
  tag: "Chats",
  summary: "List the branches of a chat, from the one it began with",
  scope: "chats:read",
  query: PageQuery,
  result: pageOf(BranchObject),
  statuses: [200],
  errors: ["CHAT_NOT_FOUND", "INVALID_CURSOR", "UNKNOWN_PARAMETER"],
  handle: async (deps, call) => {
    const { tenantId } = call.caller;
    const chatId = pathId(call, "chat");
    const [after = null] = numberCursor(call, 1) ?? [];
    const rows = await withTenant(deps.db, tenantId, async (tx) => {
      const chat = await visibleChat(tx, call.caller, chatId);
      return listRows(tx, tenantId, chat.id, { limit: call.query.limit + 1, after });
    });
    return pageAnswer(call, rows, { keyOf: (row) => [row.branch], toItem: branchObject });
  },
});
