import { LorebookObject } from "@shiftwork/contracts";
import { findLorebook, withTenant } from "@shiftwork/db";
import { notFound } from "../../errors.ts";
import { endpoint, ok } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { lorebookObject } from "./lorebook-object.ts";

export const readLorebook = endpoint({
  method: "GET",
  path: "/api/v2/lorebooks/:lorebookId",
  tag: "Lore",
  summary: "Read a lorebook, without its entries",
  scope: "lore:read",
  result: LorebookObject,
  statuses: [200],
  errors: ["LOREBOOK_NOT_FOUND"],
  handle: async (deps, call) => {
    const { tenantId } = call.caller;
    const id = pathId(call, "lorebook");
    const row = await withTenant(deps.db, tenantId, (tx) => findLorebook(tx, tenantId, id));
    if (!row) throw notFound("lorebook");
    return ok(lorebookObject(row));
  },
});
