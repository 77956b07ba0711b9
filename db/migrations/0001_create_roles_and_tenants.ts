import { sql, type Kysely } from "kysely";

/**
 * Tenants, their keys, providers and settings. Row-level security from the first table on: every policy compares with
 * `current_tenant()`, which reads the transaction's `app.tenant_id`. The roles themselves are made before the first
 * migration (`db/src/roles.ts`), because they belong to the cluster, not to the database.
 */
export async function up(db: Kysely<never>): Promise<void> {
  // `nullif`: a setting that was set once in a connection reads '' afterwards, and ''::uuid would fail for ever.
  await sql`
    create function current_tenant() returns uuid language sql stable parallel safe
    return nullif(current_setting('app.tenant_id', true), '')::uuid
  `.execute(db);

  await sql`
    create table tenants (
      id              uuid primary key,
      name            text not null,
      max_concurrency integer not null default 16 check (max_concurrency > 0),
      max_queued      integer not null default 10000 check (max_queued > 0),
      created_at      timestamptz not null default now()
    )
  `.execute(db);
  await sql`
    create table tenant_settings (
      tenant_id uuid primary key references tenants (id) on delete cascade,
      settings  jsonb not null default '{}'
    )
  `.execute(db);
  await sql`
    create table api_keys (
      tenant_id   uuid not null references tenants (id) on delete cascade,
      id          uuid not null,
      key_id      text not null unique,
      secret_hash bytea not null,
      name        text not null,
      scopes      text[] not null,
      owner_id    text,
      created_at  timestamptz not null default now(),
      expires_at  timestamptz,
      revoked_at  timestamptz,
      primary key (tenant_id, id)
    )
  `.execute(db);
  await sql`
    create table providers (
      tenant_id             uuid not null references tenants (id) on delete cascade,
      id                    uuid not null,
      name                  text not null,
      kind                  text not null,
      base_url              text not null default '',
      secret                bytea,
      allow_private_network boolean not null default false,
      models                jsonb not null default '[]',
      created_at            timestamptz not null default now(),
      primary key (tenant_id, id)
    )
  `.execute(db);

  for (const table of ["tenants", "tenant_settings", "api_keys", "providers"]) {
    const column = table === "tenants" ? "id" : "tenant_id";
    await sql`
      alter table ${sql.table(table)} enable row level security
    `.execute(db);
    await sql`alter table ${sql.table(table)} force row level security`.execute(db);
    await sql`
      create policy tenant_isolation on ${sql.table(table)}
      using (${sql.ref(column)} = current_tenant()) with check (${sql.ref(column)} = current_tenant())
    `.execute(db);
    await sql`create policy admin_lists on ${sql.table(table)} to shiftwork_admin using (true) with check (true)`.execute(
      db,
    );
    await sql`grant select, insert, update, delete on ${sql.table(table)} to shiftwork_admin`.execute(db);
    await sql`grant select on ${sql.table(table)} to shiftwork_api, shiftwork_worker`.execute(db);
  }

  // The API knows a key's id before it knows its tenant. It sees that one row and no other.
  await sql`
    create policy find_by_key_id on api_keys for select to shiftwork_api
    using (key_id = nullif(current_setting('app.key_id', true), ''))
  `.execute(db);
  // Dispatching compares tenants' limits. The row holds no content; settings stand in their own table for that reason.
  await sql`create policy dispatch_limits on tenants for select to shiftwork_worker using (true)`.execute(db);
  await sql`revoke select on api_keys from shiftwork_worker`.execute(db);
}
