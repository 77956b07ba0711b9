import { sql } from "kysely";
import type { CharacterSettings, ChatSettings, TenantSettings } from "../tables.ts";
import type { Tx } from "../transaction.ts";
import type { ChatRow } from "./chats.ts";
import { readTenantSettings } from "./tenants.ts";

/** What stands below a request, nearest first; `{}` where nothing was chosen. */
export interface StandingSettings {
  readonly chat: ChatSettings;
  readonly character: CharacterSettings;
  readonly tenant: TenantSettings;
}

/** The levels below a request, for whatever assembles a turn. `null` = the chat is gone: only the tenant's remain. */
export async function readStandingSettings(
  tx: Tx,
  tenantId: string,
  chat: Pick<ChatRow, "settings" | "characterId"> | null,
): Promise<StandingSettings> {
  const characterId = chat?.characterId ?? null;
  return {
    chat: chat?.settings ?? {},
    character: (characterId === null ? null : await readCharacterSettings(tx, tenantId, characterId)) ?? {},
    tenant: await readTenantSettings(tx, tenantId),
  };
}

/** Null = there is no such character. */
export async function readCharacterSettings(tx: Tx, tenantId: string, id: string): Promise<CharacterSettings | null> {
  return (await selectSettings(tx, tenantId, id).executeTakeFirst())?.settings ?? null;
}

/** As `readCharacterSettings`, and locks the row for the rest of the transaction. */
export async function lockCharacterSettings(tx: Tx, tenantId: string, id: string): Promise<CharacterSettings | null> {
  return (await selectSettings(tx, tenantId, id).forUpdate().executeTakeFirst())?.settings ?? null;
}

function selectSettings(tx: Tx, tenantId: string, id: string) {
  return tx.selectFrom("characters").select("settings").where("tenant_id", "=", tenantId).where("id", "=", id);
}

/** The tenant's settings, locked for the rest of the transaction; a tenant without any gets its row. */
export async function lockTenantSettings(tx: Tx, tenantId: string): Promise<TenantSettings> {
  await tx
    .insertInto("tenant_settings")
    .values({ tenant_id: tenantId, settings: {} })
    .onConflict((conflict) => conflict.column("tenant_id").doNothing())
    .execute();
  const row = await tx
    .selectFrom("tenant_settings")
    .select("settings")
    .where("tenant_id", "=", tenantId)
    .forUpdate()
    .executeTakeFirstOrThrow();
  return row.settings;
}

export async function writeCharacterSettings(
  tx: Tx,
  tenantId: string,
  id: string,
  settings: CharacterSettings,
): Promise<void> {
  await tx
    .updateTable("characters")
    .set({ settings, updated_at: sql<Date>`now()` })
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .execute();
}

/** No new revision: the chat's messages stay what they are. */
export async function writeChatSettings(tx: Tx, tenantId: string, id: string, settings: ChatSettings): Promise<void> {
  await tx
    .updateTable("chats")
    .set({ settings, updated_at: sql<Date>`now()` })
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .execute();
}
