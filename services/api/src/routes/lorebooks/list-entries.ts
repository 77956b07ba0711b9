import { LoreEntryObject, PageQuery, pageOf } from "@shiftwork/contracts";
import { findLorebook, listLoreEntries as listRows, withTenant } from "@shiftwork/db";
import { notFound } from "../../errors.ts";
import { numberCursor, pageAnswer } from "../../lists/cursor.ts";
import { endpoint } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { loreEntryObject } from "./lorebook-object.ts";

export const listLoreEntries = endpoint({
  method: "GET",
  path: "/api/v2/lorebooks/:lorebookId/entries",
  tag: "Lore",
  summary: "List the entries of a lorebook, by their number",
  scope: "lore:read",
  query: PageQuery,
  result: pageOf(LoreEntryObject),
  statuses: [200],
  errors: ["LOREBOOK_NOT_FOUND", "INVALID_CURSOR", "UNKNOWN_PARAMETER"],
  handle: async (deps, call) => {
    const { tenantId } = call.caller;
    const lorebookId = pathId(call, "lorebook");
    const page = { limit: call.query.limit + 1, afterUid: numberCursor(call, 1)?.[0] ?? null };
    const rows = await withTenant(deps.db, tenantId, async (tx) => {
      if (!(await findLorebook(tx, tenantId, lorebookId))) throw notFound("lorebook");
      return listRows(tx, tenantId, lorebookId, page);
    });
    return pageAnswer(call, rows, { keyOf: (row) => [row.uid], toItem: loreEntryObject });
  },
});
