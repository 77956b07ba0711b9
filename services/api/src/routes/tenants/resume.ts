import { encodeId, TenantStateObject } from "@shiftwork/contracts";
import { resumeTenant as resume } from "@shiftwork/db";
import { notFound } from "../../errors.ts";
import { endpoint, ok } from "../endpoint.ts";
import { pathId } from "../ids.ts";

export const resumeTenant = endpoint({
  method: "POST",
  path: "/api/v2/tenants/:tenantId/resume",
  tag: "Operations",
  summary: "Start a tenant's generations again",
  scope: "admin:write",
  tenancy: "none",
  result: TenantStateObject,
  statuses: [200],
  errors: ["TENANT_NOT_FOUND"],
  handle: async ({ adminDb }, call) => {
    const id = pathId(call, "tenant");
    if (!(await resume(adminDb, id))) throw notFound("tenant");
    return ok({ id: encodeId("tenant", id), object: "tenant" as const, paused: false });
  },
});
