import { PatchTenant, TenantObject } from "@shiftwork/contracts";
import { changeTenant } from "@shiftwork/db";
import { notFound } from "../../errors.ts";
import { endpoint, ok } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { readTenantObject } from "./tenant-object.ts";

export const updateTenant = endpoint({
  method: "PATCH",
  path: "/api/v2/tenants/:tenantId",
  tag: "Operations",
  summary: "Change a tenant's name or limits; they hold for what is started from now on",
  scope: "admin:write",
  tenancy: "none",
  body: PatchTenant,
  result: TenantObject,
  statuses: [200],
  errors: ["TENANT_NOT_FOUND"],
  handle: async ({ adminDb }, call) => {
    const id = pathId(call, "tenant");
    if (!(await changeTenant(adminDb, id, call.body))) throw notFound("tenant");
    return ok(await readTenantObject(adminDb, id));
  },
});
