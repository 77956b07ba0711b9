import { BulkActionObject } from "@shiftwork/contracts";
import { withTenant } from "@shiftwork/db";
import { readBulkActionObject } from "../../bulk-actions/bulk-action-object.ts";
import { endpoint, ok } from "../endpoint.ts";
import { pathId } from "../ids.ts";

export const readBulkAction = endpoint({
  method: "GET",
  path: "/api/v2/bulk-actions/:bulkActionId",
  tag: "Operations",
  summary: "Read a bulk action and how far it is",
  scope: "generations:read",
  result: BulkActionObject,
  statuses: [200],
  errors: ["BULK_ACTION_NOT_FOUND"],
  handle: async (deps, call) => {
    const id = pathId(call, "bulkAction");
    const { caller } = call;
    return ok(await withTenant(deps.db, caller.tenantId, (tx) => readBulkActionObject(tx, caller, id)));
  },
});
