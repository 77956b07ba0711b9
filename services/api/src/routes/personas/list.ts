import { PageQuery, pageOf, PersonaObject } from "@shiftwork/contracts";
import { listPersonas as listRows, withTenant } from "@shiftwork/db";
import { idCursor, pageAnswer } from "../../lists/cursor.ts";
import { endpoint } from "../endpoint.ts";
import { personaObject } from "./persona-object.ts";

export const listPersonas = endpoint({
  method: "GET",
  path: "/api/v2/personas",
  tag: "Authoring",
  summary: "List personas, newest first",
  scope: "authoring:read",
  query: PageQuery,
  result: pageOf(PersonaObject),
  statuses: [200],
  errors: ["INVALID_CURSOR", "UNKNOWN_PARAMETER"],
  handle: async (deps, call) => {
    const { tenantId } = call.caller;
    const page = { limit: call.query.limit + 1, afterId: idCursor(call) };
    const rows = await withTenant(deps.db, tenantId, (tx) => listRows(tx, tenantId, page));
    return pageAnswer(call, rows, { keyOf: (row) => [row.id], toItem: personaObject });
  },
});
