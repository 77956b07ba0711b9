import { BulkActionObject, PageQuery, pageOf } from "@shiftwork/contracts";
import { listBulkActions as listRows } from "@shiftwork/db";
import { bulkActionObject } from "../../bulk-actions/bulk-action-object.ts";
import { pageById } from "../../lists/page-by-id.ts";
import { endpoint } from "../endpoint.ts";

export const listBulkActions = endpoint({
  method: "GET",
  path: "/api/v2/bulk-actions",
  tag: "Operations",
  summary: "List bulk actions and how far they are, newest first",
  scope: "generations:read",
  query: PageQuery,
  result: pageOf(BulkActionObject),
  statuses: [200],
  errors: ["INVALID_CURSOR"],
  handle: async (deps, call) =>
    pageById(deps, call, {
      read: (tx, tenantId, page) => listRows(tx, tenantId, call.caller.ownerId, page),
      toItem: bulkActionObject,
    }),
});
