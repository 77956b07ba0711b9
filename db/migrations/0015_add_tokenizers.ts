import { sql, type Kysely } from "kysely";

/** Tokenizers that tenants bring for their models, and what was learned of how far estimates are off. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`
    create table tokenizers (
      tenant_id  uuid not null references tenants (id) on delete cascade,
      id         uuid not null,
      name       text not null,
      -- Patterns of the models it counts for.
      models     text[] not null,
      -- Bytes of the file as it was sent.
      size_bytes integer not null,
      -- The tokenizer.json, deflated; never changed: another file is another tokenizer.
      file       bytea not null,
      created_at timestamptz not null default now(),
      primary key (tenant_id, id)
    )
  `.execute(db);
  // It is compressed already.
  await sql`alter table tokenizers alter column file set storage external`.execute(db);
  await sql`
    create table token_calibrations (
      tenant_id       uuid not null,
      provider_id     uuid not null,
      model           text not null,
      -- What the estimates came from: another profile, or another version of it, begins anew.
      profile         text not null,
      profile_version integer not null,
      version         integer not null,
      factor          double precision not null,
      ratio           double precision not null,
      samples         integer not null,
      updated_at      timestamptz not null default now(),
      primary key (tenant_id, provider_id, model),
      foreign key (tenant_id, provider_id) references providers (tenant_id, id) on delete cascade
    )
  `.execute(db);
  for (const table of ["tokenizers", "token_calibrations"]) await isolateTenants(db, table);
  await sql`grant select, insert, update, delete on tokenizers, token_calibrations to shiftwork_api, shiftwork_worker`.execute(
    db,
  );
}

async function isolateTenants(db: Kysely<never>, table: string): Promise<void> {
  await sql`alter table ${sql.table(table)} enable row level security`.execute(db);
  await sql`alter table ${sql.table(table)} force row level security`.execute(db);
  await sql`
    create policy tenant_isolation on ${sql.table(table)}
    using (tenant_id = current_tenant()) with check (tenant_id = current_tenant())
  `.execute(db);
}
