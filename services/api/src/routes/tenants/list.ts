import { pageOf, PageQuery, TenantObject } from "@shiftwork/contracts";
import { listTenants as listRows } from "@shiftwork/db";
import { idCursor, pageAnswer } from "../../lists/cursor.ts";
import { endpoint } from "../endpoint.ts";
import { tenantObject } from "./tenant-object.ts";

export const listTenants = endpoint({
  method: "GET",
  path: "/api/v2/tenants",
  tag: "Operations",
  summary: "List tenants with their limits, newest first",
  scope: "admin:read",
  tenancy: "none",
  query: PageQuery,
  result: pageOf(TenantObject),
  statuses: [200],
  errors: ["INVALID_CURSOR"],
  handle: async ({ adminDb }, call) => {
    const rows = await listRows(adminDb, { limit: call.query.limit + 1, afterId: idCursor(call) });
    return pageAnswer(call, rows, { keyOf: (row) => [row.id], toItem: tenantObject });
  },
});
