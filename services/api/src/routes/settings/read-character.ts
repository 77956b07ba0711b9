import { SettingsObject } from "@shiftwork/contracts";
import { readCharacterSettings as readRow, withTenant } from "@shiftwork/db";
import { notFound } from "../../errors.ts";
import { tagged } from "../../settings/entity-tag.ts";
import { settingsObject } from "../../settings/settings-object.ts";
import { endpoint } from "../endpoint.ts";
import { pathId } from "../ids.ts";

export const readCharacterSettings = endpoint({
  method: "GET",
  path: "/api/v2/characters/:characterId/settings",
  tag: "Settings",
  summary: "Read what a character brings to its chats",
  scope: "authoring:read",
  result: SettingsObject,
  statuses: [200],
  errors: ["CHARACTER_NOT_FOUND"],
  handle: async (deps, call) => {
    const { tenantId } = call.caller;
    const id = pathId(call, "character");
    const settings = await withTenant(deps.db, tenantId, (tx) => readRow(tx, tenantId, id));
    if (!settings) throw notFound("character");
    return tagged(settingsObject(settings));
  },
});
