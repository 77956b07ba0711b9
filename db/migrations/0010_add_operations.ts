import { sql, type Kysely } from "kysely";

/** What operators work with: filters on plain columns, keys of admins, states of failures, bulk actions. */
export async function up(db: Kysely<never>): Promise<void> {
  await makeGenerationsFilterable(db);
  await createAdminKeys(db);
  await createErrorStates(db);
  await createBulkActions(db);
  await letAdminsList(db);
}

/** Filters compare plain columns: JSON operators are not leakproof, so row-level security keeps them from every index. */
async function makeGenerationsFilterable(db: Kysely<never>): Promise<void> {
  // Known once a generation has ended: nothing indexed changes while it runs, so those updates stay within their page.
  await sql`
    alter table generations
      add column approximate  boolean generated always as (
        case when finished_at is not null then (context #>> '{tokenizer,approximate}')::boolean end
      ) stored,
      add column truncated    boolean generated always as (
        case when finished_at is not null then (context #>> '{counts,truncated}')::integer > 0 end
      ) stored,
      add column error_origin text generated always as (error ->> 'origin') stored
  `.execute(db);
  // Whatever one filters by, in a tenth of the row: a rare value is found without reading the rows between. Entered
  // once, at the end; the few active ones have an index of their own.
  await sql`
    create index generations_ended on generations (tenant_id, id) include (
      status, model, provider_id, strategy, approximate, truncated, error_code, error_origin, created_at, started_at, finished_at
    ) where finished_at is not null
  `.execute(db);
  // The few among the many, of which lists are asked for most.
  await sql`
    create index generations_failed_or_cancelled on generations (tenant_id, status, id desc)
    where status in ('failed', 'cancelled')
  `.execute(db);
  await sql`create index idempotency_keys_by_key on idempotency_keys (tenant_id, key) where generation_id is not null`.execute(
    db,
  );
}

/** Keys of those who look after the installation; they name the tenant they act in. */
async function createAdminKeys(db: Kysely<never>): Promise<void> {
  await sql`
    create table admin_keys (
      id          uuid primary key,
      key_id      text not null unique,
      secret_hash bytea not null,
      name        text not null,
      scopes      text[] not null,
      created_at  timestamptz not null default now(),
      expires_at  timestamptz,
      revoked_at  timestamptz
    )
  `.execute(db);
  await forceRowLevelSecurity(db, "admin_keys");
  await sql`create policy admin_lists on admin_keys to shiftwork_admin using (true) with check (true)`.execute(db);
  // As with a tenant's key: the API sees the one row whose `key_id` it was sent.
  await sql`
    create policy find_by_key_id on admin_keys for select to shiftwork_api
    using (key_id = nullif(current_setting('app.key_id', true), ''))
  `.execute(db);
  await sql`grant select, insert, update, delete on admin_keys to shiftwork_admin`.execute(db);
  await sql`grant select on admin_keys to shiftwork_api`.execute(db);
}

/** What an operator said of a kind of failure. A kind without a row is open. */
async function createErrorStates(db: Kysely<never>): Promise<void> {
  await sql`
    create table error_states (
      tenant_id   uuid not null references tenants (id) on delete cascade,
      fingerprint text not null,
      state       text not null check (state in ('open', 'resolved', 'ignored')),
      changed_at  timestamptz not null default now(),
      primary key (tenant_id, fingerprint)
    )
  `.execute(db);
  await isolateTenants(db, "error_states");
  await sql`grant select, insert, update on error_states to shiftwork_api`.execute(db);
}

async function createBulkActions(db: Kysely<never>): Promise<void> {
  await sql`
    create table bulk_actions (
      tenant_id          uuid not null references tenants (id) on delete cascade,
      id                 uuid not null,
      -- Whose generations it is about, and in whose name it acts.
      owner_id           text,
      api_key_id         uuid not null,
      request_id         text not null,
      action             text not null check (action in ('cancel', 'retry', 'discard')),
      -- As it was asked for; read again for every batch.
      target             jsonb not null,
      note               text,
      status             text not null default 'queued' check (status in ('queued', 'running', 'completed', 'aborted')),
      total              integer not null,
      total_capped       boolean not null,
      done               integer not null default 0,
      succeeded          integer not null default 0,
      skipped            integer not null default 0,
      failed             integer not null default 0,
      -- How many of the failed ones failed of what, by error code.
      failures           jsonb not null default '{}',
      -- The last generation that was dealt with; a batch and its progress commit together.
      last_generation_id uuid,
      created_at         timestamptz not null default now(),
      started_at         timestamptz,
      finished_at        timestamptz,
      -- Who works on it, and until when. Whoever dies loses it.
      lease_holder       uuid,
      lease_expires_at   timestamptz,
      primary key (tenant_id, id)
    )
  `.execute(db);
  await isolateTenants(db, "bulk_actions");
  await sql`grant select, insert, update on bulk_actions to shiftwork_api`.execute(db);
  await sql`create policy take_up on bulk_actions to shiftwork_admin using (true) with check (true)`.execute(db);
  await sql`grant select, update on bulk_actions to shiftwork_admin`.execute(db);
  await sql`
    create index bulk_actions_unfinished on bulk_actions (id) where status in ('queued', 'running')
  `.execute(db);
}

/** Lists across tenants: ids, states, times, sums, codes and labels; no texts. */
async function letAdminsList(db: Kysely<never>): Promise<void> {
  for (const table of ["generations", "generation_labels", "prompt_context_audits", "idempotency_keys"]) {
    await sql`create policy admin_lists on ${sql.table(table)} for select to shiftwork_admin using (true)`.execute(db);
  }
  await sql`grant select on generations, generation_labels to shiftwork_admin`.execute(db);
  await sql`grant select (tenant_id, generation_id) on prompt_context_audits to shiftwork_admin`.execute(db);
  await sql`grant select (tenant_id, path, key, generation_id) on idempotency_keys to shiftwork_admin`.execute(db);
}

async function isolateTenants(db: Kysely<never>, table: string): Promise<void> {
  await forceRowLevelSecurity(db, table);
  await sql`
    create policy tenant_isolation on ${sql.table(table)}
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant())
  `.execute(db);
}

async function forceRowLevelSecurity(db: Kysely<never>, table: string): Promise<void> {
  await sql`alter table ${sql.table(table)} enable row level security`.execute(db);
  await sql`alter table ${sql.table(table)} force row level security`.execute(db);
}
