import { SettingsObject } from "@shiftwork/contracts";
import { withTenant } from "@shiftwork/db";
import { tagged } from "../../settings/entity-tag.ts";
import { settingsObject } from "../../settings/settings-object.ts";
import { endpoint } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { visibleChat } from "../visible.ts";

export const readChatSettings = endpoint({
  method: "GET",
  path: "/api/v2/chats/:chatId/settings",
  tag: "Settings",
  summary: "Read what a chat chose for its turns",
  scope: "chats:read",
  result: SettingsObject,
  statuses: [200],
  errors: ["CHAT_NOT_FOUND"],
  handle: async (deps, call) => {
    const id = pathId(call, "chat");
    const chat = await withTenant(deps.db, call.caller.tenantId, (tx) => visibleChat(tx, call.caller, id));
    return tagged(settingsObject(chat.settings));
  },
});
