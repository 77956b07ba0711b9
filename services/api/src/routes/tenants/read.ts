import { TenantObject } from "@shiftwork/contracts";
import { endpoint, ok } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { readTenantObject } from "./tenant-object.ts";

export const readTenant = endpoint({
  method: "GET",
  path: "/api/v2/tenants/:tenantId",
  tag: "Operations",
  summary: "Read a tenant with its limits",
  scope: "admin:read",
  tenancy: "none",
  result: TenantObject,
  statuses: [200],
  errors: ["TENANT_NOT_FOUND"],
  handle: async ({ adminDb }, call) => ok(await readTenantObject(adminDb, pathId(call, "tenant"))),
});
