import { sql, type Kysely } from "kysely";

/** What failed generations are grouped by, which of them wait for an operator, and how often a provider said "wait". */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`
    alter table generations
      -- A hash of code, provider kind, model and upstream status: alike for failures alike, never made of text.
      add column error_fingerprint text,
      -- Failures an operator can act on begin as open; whoever sends or drops them says so.
      add column dead_letter text check (dead_letter in ('open', 'retried', 'discarded')),
      add column dead_letter_note text,
      -- Given back to the line for a wait the provider asked for: bounded, while attempts are not counted for it.
      add column told_waits integer not null default 0,
      add constraint generations_fingerprint_only_failed check (error_fingerprint is null or status = 'failed'),
      add constraint generations_dead_letter_only_failed check (dead_letter is null or status = 'failed')
  `.execute(db);
  await sql`
    create index generations_by_fingerprint on generations (tenant_id, error_fingerprint, id desc)
    where error_fingerprint is not null
  `.execute(db);
  await sql`create index generations_dead_letters on generations (tenant_id, id) where dead_letter = 'open'`.execute(
    db,
  );
}
