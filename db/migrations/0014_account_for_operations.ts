import { sql, type Kysely } from "kysely";

/** Why bulk actions passed generations over, and the hand that clears old ones away. */
export async function up(db: Kysely<never>): Promise<void> {
  // How many of the skipped ones were skipped for what, by reason.
  await sql`alter table bulk_actions add column skips jsonb not null default '{}'`.execute(db);
  await sql`grant select, update, delete on bulk_actions to shiftwork_worker`.execute(db);
}
