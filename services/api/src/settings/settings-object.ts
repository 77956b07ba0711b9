import { encodeId, type SettingsObject, type TenantSettingsObject } from "@shiftwork/contracts";
import type { ChatSettings, TenantSettings } from "@shiftwork/db";

/** The settings of a chat or a character as clients see them. */
export function settingsObject(level: ChatSettings): SettingsObject {
  return { object: "settings", ...levelObject(level) };
}

/** The settings of a tenant as clients see them. */
export function tenantSettingsObject(tenant: TenantSettings): TenantSettingsObject {
  const { mainPrompt = null, postHistoryInstructions = null, contentRetentionDays = null } = tenant;
  const own = { mainPrompt, postHistoryInstructions, contentRetentionDays };
  return { object: "tenant_settings", ...levelObject(tenant), ...own };
}

function levelObject(level: ChatSettings): Omit<SettingsObject, "object"> {
  return {
    providerId: level.providerId === undefined ? null : encodeId("provider", level.providerId),
    model: level.model ?? null,
    contextStrategy: level.contextStrategy ?? null,
    strategyOptions: level.strategyOptions ?? null,
    contextLimit: level.contextLimit ?? null,
    reservedForReply: level.reservedForReply ?? null,
    recall: level.recall ?? null,
  };
}
