import { ErrorGroupObject, ErrorQuery, LARGEST_COUNT, pageOf } from "@shiftwork/contracts";
import { listErrorGroups, withTenant } from "@shiftwork/db";
import { idCursor, pageAnswer } from "../../lists/cursor.ts";
import { endpoint } from "../endpoint.ts";
import { errorGroupObject } from "./error-group-object.ts";

export const listErrors = endpoint({
  method: "GET",
  path: "/api/v2/errors",
  tag: "Operations",
  summary: "Failures by kind, the one that happened last first; one that happens again moves to the front",
  scope: "metrics:read",
  query: ErrorQuery,
  result: pageOf(ErrorGroupObject),
  statuses: [200],
  errors: ["INVALID_CURSOR"],
  handle: async (deps, call) => {
    const { tenantId, ownerId } = call.caller;
    const { limit, cursor: _cursor, ...filter } = call.query;
    const page = { limit: limit + 1, afterId: idCursor(call), countedUpTo: LARGEST_COUNT };
    const rows = await withTenant(deps.db, tenantId, (tx) => listErrorGroups(tx, tenantId, ownerId, filter, page));
    return pageAnswer(call, rows, { keyOf: (row) => [row.newestId], toItem: errorGroupObject });
  },
});
