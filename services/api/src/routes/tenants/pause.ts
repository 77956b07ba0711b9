import { encodeId, TenantStateObject } from "@shiftwork/contracts";
import { pauseTenant as pause } from "@shiftwork/db";
import { notFound } from "../../errors.ts";
import { endpoint, ok } from "../endpoint.ts";
import { pathId } from "../ids.ts";

export const pauseTenant = endpoint({
  method: "POST",
  path: "/api/v2/tenants/:tenantId/pause",
  tag: "Operations",
  summary: "Stop starting generations of a tenant; running ones go on",
  scope: "admin:write",
  tenancy: "none",
  result: TenantStateObject,
  statuses: [200],
  errors: ["TENANT_NOT_FOUND"],
  handle: async ({ adminDb }, call) => {
    const id = pathId(call, "tenant");
    if (!(await pause(adminDb, id))) throw notFound("tenant");
    return ok({ id: encodeId("tenant", id), object: "tenant" as const, paused: true });
  },
});
