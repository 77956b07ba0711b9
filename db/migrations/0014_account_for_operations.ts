import { sql, type Kysely } from "kysely";

/**
 * What operators account with: why bulk actions passed generations over,
 * what attempts have cost, whose failures stand how; and the hand that clears old bulk actions away.
 */
export async function up(db: Kysely<never>): Promise<void> {
  // How many of the skipped ones were skipped for what, by reason.
  await sql`alter table bulk_actions add column skips jsonb not null default '{}'`.execute(db);
  await sql`grant select, update, delete on bulk_actions to shiftwork_worker`.execute(db);
  // States and times of failures, no texts: admins list them across tenants.
  await sql`create policy admin_lists on error_states for select to shiftwork_admin using (true)`.execute(db);
  await sql`grant select on error_states to shiftwork_admin`.execute(db);
  // An attempt that was given back leaves no row, unless the provider said what it had cost.
  await sql`
    alter table generation_attempts
      add column cache_read_tokens integer,
      drop constraint generation_attempts_outcome_check,
      add constraint generation_attempts_outcome_check
        check (outcome in ('completed', 'failed', 'cancelled', 'lost', 'handed_back'))
  `.execute(db);
}
