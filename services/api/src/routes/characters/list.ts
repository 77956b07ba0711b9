import { CharacterObject, PageQuery, pageOf } from "@shiftwork/contracts";
import { listCharacters as listRows, withTenant } from "@shiftwork/db";
import { idCursor, pageAnswer } from "../../lists/cursor.ts";
import { endpoint } from "../endpoint.ts";
import { characterObject } from "./character-object.ts";

export const listCharacters = endpoint({
  method: "GET",
  path: "/api/v2/characters",
  tag: "Authoring",
  summary: "List characters, newest first",
  scope: "authoring:read",
  query: PageQuery,
  result: pageOf(CharacterObject),
  statuses: [200],
  errors: ["INVALID_CURSOR", "UNKNOWN_PARAMETER"],
  handle: async (deps, call) => {
    const { tenantId } = call.caller;
    const page = { limit: call.query.limit + 1, afterId: idCursor(call) };
    const rows = await withTenant(deps.db, tenantId, (tx) => listRows(tx, tenantId, page));
    return pageAnswer(call, rows, { keyOf: (row) => [row.id], toItem: characterObject });
  },
});
