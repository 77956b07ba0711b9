import { ErrorGroupObject, ErrorQuery, LARGEST_COUNT, pageOf } from "@shiftwork/contracts";
import { listErrorGroups, listErrorGroupsEverywhere, withTenant, type ErrorGroupRow } from "@shiftwork/db";
import type { z } from "zod";
import type { ApiDependencies } from "../../api-dependencies.ts";
import { idCursor, pageAnswer } from "../../lists/cursor.ts";
import { narrowedTo } from "../../lists/tenants-listed.ts";
import { endpoint, type Call } from "../endpoint.ts";
import { errorGroupObject } from "./error-group-object.ts";

export const listErrors = endpoint({
  method: "GET",
  path: "/api/v2/errors",
  tag: "Operations",
  summary: "Failures by kind, the one that happened last first; one that happens again moves to the front",
  scope: "metrics:read",
  tenancy: "one or all",
  query: ErrorQuery,
  result: pageOf(ErrorGroupObject),
  statuses: [200],
  errors: ["INVALID_CURSOR"],
  handle: async (deps, call) => {
    const { everyTenant } = call.caller;
    const toItem = (row: ErrorGroupRow): ErrorGroupObject => errorGroupObject(row, everyTenant);
    return pageAnswer(call, await groups(deps, call), { keyOf: (row) => [row.newestId], toItem });
  },
});

async function groups(
  { db, adminDb }: ApiDependencies,
  call: Call<z.infer<typeof ErrorQuery>>,
): Promise<readonly ErrorGroupRow[]> {
  const { tenantId, ownerId, everyTenant } = call.caller;
  const { limit, cursor: _cursor, tenantId: named, ...filter } = call.query;
  const narrowed = narrowedTo(call.caller, named);
  const page = { limit: limit + 1, afterId: idCursor(call), countedUpTo: LARGEST_COUNT };
  if (everyTenant) return listErrorGroupsEverywhere(adminDb, narrowed.tenantId ?? null, filter, page);
  return withTenant(db, tenantId, (tx) => listErrorGroups(tx, tenantId, ownerId, filter, page));
}
