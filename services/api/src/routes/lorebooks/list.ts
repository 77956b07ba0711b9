import { LorebookObject, PageQuery, pageOf } from "@shiftwork/contracts";
import { listLorebooks as listRows, withTenant } from "@shiftwork/db";
import { idCursor, pageAnswer } from "../../lists/cursor.ts";
import { endpoint } from "../endpoint.ts";
import { lorebookObject } from "./lorebook-object.ts";

export const listLorebooks = endpoint({
  method: "GET",
  path: "/api/v2/lorebooks",
  tag: "Lore",
  summary: "List lorebooks, newest first",
  scope: "lore:read",
  query: PageQuery,
  result: pageOf(LorebookObject),
  statuses: [200],
  errors: ["INVALID_CURSOR", "UNKNOWN_PARAMETER"],
  handle: async (deps, call) => {
    const { tenantId } = call.caller;
    const page = { limit: call.query.limit + 1, afterId: idCursor(call) };
    const rows = await withTenant(deps.db, tenantId, (tx) => listRows(tx, tenantId, page));
    return pageAnswer(call, rows, { keyOf: (row) => [row.id], toItem: lorebookObject });
  },
});
