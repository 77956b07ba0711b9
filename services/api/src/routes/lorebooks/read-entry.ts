import { LoreEntryObject } from "@shiftwork/contracts";
import { findLorebook, findLoreEntry, withTenant } from "@shiftwork/db";
import { notFound } from "../../errors.ts";
import { endpoint, ok } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { loreEntryObject } from "./lorebook-object.ts";

export const readLoreEntry = endpoint({
  method: "GET",
  path: "/api/v2/lorebooks/:lorebookId/entries/:loreEntryId",
  tag: "Lore",
  summary: "Read an entry of a lorebook",
  scope: "lore:read",
  result: LoreEntryObject,
  statuses: [200],
  errors: ["LOREBOOK_NOT_FOUND", "LORE_ENTRY_NOT_FOUND"],
  handle: async (deps, call) => {
    const { tenantId } = call.caller;
    const lorebookId = pathId(call, "lorebook");
    const row = await withTenant(deps.db, tenantId, async (tx) => {
      if (!(await findLorebook(tx, tenantId, lorebookId))) throw notFound("lorebook");
      return findLoreEntry(tx, tenantId, lorebookId, pathId(call, "loreEntry"));
    });
    if (!row) throw notFound("loreEntry");
    return ok(loreEntryObject(row));
  },
});
