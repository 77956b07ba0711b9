import { sql, type Kysely } from "kysely";

/** Settings of a character, between its chats' and its tenant's; the API may change a tenant's own settings. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`alter table characters add column settings jsonb not null default '{}'`.execute(db);
  await sql`grant insert, update on tenant_settings to shiftwork_api`.execute(db);
}
