import { PatchTenantSettings, TenantSettingsObject } from "@shiftwork/contracts";
import { lockTenantSettings, withTenant, writeTenantSettings } from "@shiftwork/db";
import { changeSettings } from "../../settings/change-settings.ts";
import { requireMatch, tagged } from "../../settings/entity-tag.ts";
import { tenantSettingsObject } from "../../settings/settings-object.ts";
import { endpoint } from "../endpoint.ts";

export const updateSettings = endpoint({
  method: "PATCH",
  path: "/api/v2/settings",
  tag: "Settings",
  summary: "Change what the tenant chose for all its chats; null takes a choice back",
  scope: "authoring:write",
  body: PatchTenantSettings,
  result: TenantSettingsObject,
  statuses: [200],
  errors: ["PROVIDER_NOT_FOUND", "STRATEGY_UNKNOWN", "PRECONDITION_FAILED"],
  handle: async (deps, call) => {
    const { tenantId } = call.caller;
    const settings = await withTenant(deps.db, tenantId, async (tx) => {
      const stored = await lockTenantSettings(tx, tenantId);
      requireMatch(call.request, tenantSettingsObject(stored));
      const place = { tenantId, strategies: deps.plugins.strategies, below: [] };
      const next = await changeSettings(tx, place, stored, call.body);
      await writeTenantSettings(tx, tenantId, next);
      return next;
    });
    return tagged(tenantSettingsObject(settings));
  },
});
