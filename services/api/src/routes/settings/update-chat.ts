import { PatchSettings, SettingsObject } from "@shiftwork/contracts";
import { findChatLocked, readStandingSettings, withTenant, writeChatSettings } from "@shiftwork/db";
import { notFound } from "../../errors.ts";
import { changeSettings } from "../../settings/change-settings.ts";
import { requireMatch, tagged } from "../../settings/entity-tag.ts";
import { settingsObject } from "../../settings/settings-object.ts";
import { endpoint } from "../endpoint.ts";
import { pathId } from "../ids.ts";

export const updateChatSettings = endpoint({
  method: "PATCH",
  path: "/api/v2/chats/:chatId/settings",
  tag: "Settings",
  summary: "Change what a chat chose for its turns; null takes a choice back",
  scope: "chats:write",
  body: PatchSettings,
  result: SettingsObject,
  statuses: [200],
  errors: ["CHAT_NOT_FOUND", "PROVIDER_NOT_FOUND", "STRATEGY_UNKNOWN", "PRECONDITION_FAILED"],
  handle: async (deps, call) => {
    const { tenantId, ownerId } = call.caller;
    const id = pathId(call, "chat");
    const settings = await withTenant(deps.db, tenantId, async (tx) => {
      const chat = await findChatLocked(tx, tenantId, id, ownerId);
      if (!chat) throw notFound("chat");
      requireMatch(call.request, settingsObject(chat.settings));
      const { character, tenant } = await readStandingSettings(tx, tenantId, chat);
      const place = { tenantId, strategies: deps.plugins.strategies, below: [character, tenant] };
      const next = await changeSettings(tx, place, chat.settings, call.body);
      await writeChatSettings(tx, tenantId, id, next);
      return next;
    });
    return tagged(settingsObject(settings));
  },
});
