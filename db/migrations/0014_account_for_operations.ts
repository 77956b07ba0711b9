import { sql, type Kysely } from "kysely";

/** Why bulk actions passed generations over, the hand that clears old ones away, and what attempts have cost. */
export async function up(db: Kysely<never>): Promise<void> {
  // How many of the skipped ones were skipped for what, by reason.
  await sql`alter table bulk_actions add column skips jsonb not null default '{}'`.execute(db);
  await sql`grant select, update, delete on bulk_actions to shiftwork_worker`.execute(db);
  // An attempt that was given back leaves no row, unless the provider said what it had cost.
  await sql`
    alter table generation_attempts
      add column cache_read_tokens integer,
      drop constraint generation_attempts_outcome_check,
      add constraint generation_attempts_outcome_check
        check (outcome in ('completed', 'failed', 'cancelled', 'lost', 'handed_back'))
  `.execute(db);
}
