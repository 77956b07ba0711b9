import { ImportObject } from "@shiftwork/contracts";
import { findChat, findImport, withTenant, type ImportRow, type Tx } from "@shiftwork/db";
import type { Caller } from "../../auth/caller.ts";
import { notFound } from "../../errors.ts";
import type { ImportResult } from "../../imports/store-import.ts";
import { endpoint, ok } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { importObject } from "./import-object.ts";

export const readImport = endpoint({
  method: "GET",
  path: "/api/v2/imports/:importId",
  tag: "Imports",
  summary: "Read a finished import",
  scope: "imports:read",
  result: ImportObject,
  statuses: [200],
  errors: ["IMPORT_NOT_FOUND"],
  handle: async (deps, call) => {
    const id = pathId(call, "import");
    const row = await withTenant(deps.db, call.caller.tenantId, (tx) => visibleImport(tx, call.caller, id));
    return ok(importObject(row));
  },
});

/** The import of a chat is its owner's, like the chat. */
async function visibleImport(tx: Tx, caller: Caller, id: string): Promise<ImportRow> {
  const row = await findImport(tx, caller.tenantId, id);
  if (!row) throw notFound("import");
  const { chatId } = row.result as ImportResult;
  if (caller.ownerId === null || chatId === null) return row;
  if (!(await findChat(tx, caller.tenantId, chatId, caller.ownerId))) throw notFound("import");
  return row;
}
