import { PatchSettings, SettingsObject } from "@shiftwork/contracts";
import { lockCharacterSettings, readTenantSettings, withTenant, writeCharacterSettings } from "@shiftwork/db";
import { notFound } from "../../errors.ts";
import { changeSettings } from "../../settings/change-settings.ts";
import { requireMatch, tagged } from "../../settings/entity-tag.ts";
import { settingsObject } from "../../settings/settings-object.ts";
import { endpoint } from "../endpoint.ts";
import { pathId } from "../ids.ts";

export const updateCharacterSettings = endpoint({
  method: "PATCH",
  path: "/api/v2/characters/:characterId/settings",
  tag: "Settings",
  summary: "Change what a character brings to its chats; null takes a choice back",
  scope: "authoring:write",
  body: PatchSettings,
  result: SettingsObject,
  statuses: [200],
  errors: ["CHARACTER_NOT_FOUND", "PROVIDER_NOT_FOUND", "STRATEGY_UNKNOWN", "PRECONDITION_FAILED"],
  handle: async (deps, call) => {
    const { tenantId } = call.caller;
    const id = pathId(call, "character");
    const settings = await withTenant(deps.db, tenantId, async (tx) => {
      const stored = await lockCharacterSettings(tx, tenantId, id);
      if (!stored) throw notFound("character");
      requireMatch(call.request, settingsObject(stored));
      const below = [await readTenantSettings(tx, tenantId)];
      const place = { tenantId, strategies: deps.plugins.strategies, below };
      const next = await changeSettings(tx, place, stored, call.body);
      await writeCharacterSettings(tx, tenantId, id, next);
      return next;
    });
    return tagged(settingsObject(settings));
  },
});
