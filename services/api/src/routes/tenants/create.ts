import { CreateTenant, encodeId, TenantObject } from "@shiftwork/contracts";
import { insertTenant, withTenant } from "@shiftwork/db";
import { uuidv7 } from "uuidv7";
import { created, endpoint } from "../endpoint.ts";
import { readTenantObject } from "./tenant-object.ts";

export const createTenant = endpoint({
  method: "POST",
  path: "/api/v2/tenants",
  tag: "Operations",
  summary: "Make a tenant; it has no provider and no key yet",
  scope: "admin:write",
  tenancy: "none",
  body: CreateTenant,
  result: TenantObject,
  statuses: [201],
  errors: [],
  handle: async ({ adminDb }, { body }) => {
    const id = uuidv7();
    await withTenant(adminDb, id, (tx) => insertTenant(tx, { id, ...body }));
    return created(`/api/v2/tenants/${encodeId("tenant", id)}`, await readTenantObject(adminDb, id));
  },
});
