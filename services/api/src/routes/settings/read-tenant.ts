import { TenantSettingsObject } from "@shiftwork/contracts";
import { readTenantSettings, withTenant } from "@shiftwork/db";
import { tagged } from "../../settings/entity-tag.ts";
import { tenantSettingsObject } from "../../settings/settings-object.ts";
import { endpoint } from "../endpoint.ts";

export const readSettings = endpoint({
  method: "GET",
  path: "/api/v2/settings",
  tag: "Settings",
  summary: "Read what the tenant chose for all its chats",
  scope: "authoring:read",
  result: TenantSettingsObject,
  statuses: [200],
  errors: [],
  handle: async (deps, call) => {
    const { tenantId } = call.caller;
    const settings = await withTenant(deps.db, tenantId, (tx) => readTenantSettings(tx, tenantId));
    return tagged(tenantSettingsObject(settings));
  },
});
