import { encodeId, TenantStateObject } from "@shiftwork/contracts";
import { pauseTenant, resumeTenant } from "@shiftwork/db";
import { notFound } from "../../errors.ts";
import { endpoint, ok } from "../endpoint.ts";
import { pathId } from "../ids.ts";

const SWITCH = {
  pause: { summary: "Stop starting generations of a tenant; running ones go on", apply: pauseTenant, paused: true },
  resume: { summary: "Start a tenant's generations again", apply: resumeTenant, paused: false },
} as const;

/** The endpoint that pauses a tenant, or the one that lets it go on. */
export function tenantSwitch(verb: keyof typeof SWITCH) {
  const { summary, apply, paused } = SWITCH[verb];
  return endpoint({
    method: "POST",
    path: `/api/v2/tenants/:tenantId/${verb}`,
    tag: "Operations",
    summary,
    scope: "admin:write",
    tenancy: "none",
    result: TenantStateObject,
    statuses: [200],
    errors: ["TENANT_NOT_FOUND"],
    handle: async ({ adminDb }, call) => {
      const id = pathId(call, "tenant");
      if (!(await apply(adminDb, id))) throw notFound("tenant");
      return ok({ id: encodeId("tenant", id), object: "tenant" as const, paused });
    },
  });
}
