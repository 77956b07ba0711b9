import { sql, type Kysely } from "kysely";

/** Vectors that texts are recalled by, and the chats that wait for some. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`
    create table embeddings (
      tenant_id uuid not null references tenants (id) on delete cascade,
      -- SHA-256 over provider, version, dimensions and text: nothing of the text can be read from it.
      key       bytea not null,
      -- Float32, little-endian, of length 1 or all zeros.
      vector    bytea not null,
      -- Brought up to date when a week has passed; what nobody has used for long is deleted.
      used_on   date not null default current_date,
      primary key (tenant_id, key)
    )
  `.execute(db);
  await sql`create index embeddings_by_use on embeddings (tenant_id, used_on)`.execute(db);
  await sql`
    create table embedding_requests (
      tenant_id    uuid not null,
      chat_id      uuid not null,
      with_lore    boolean not null,
      -- Grows with every ask: who has worked on an older one leaves the row to the next.
      asks         integer not null default 1,
      failures     integer not null default 0,
      requested_at timestamptz not null default now(),
      next_try_at  timestamptz not null default now(),
      primary key (tenant_id, chat_id),
      foreign key (tenant_id, chat_id) references chats (tenant_id, id) on delete cascade
    )
  `.execute(db);
  await sql`create index embedding_requests_by_time on embedding_requests (next_try_at)`.execute(db);
  for (const table of ["embeddings", "embedding_requests"]) await isolateTenants(db, table);
  // Ids and times, no text: a worker looks for its next chat across tenants.
  await sql`
    create policy worker_across_tenants on embedding_requests for select to shiftwork_worker using (true)
  `.execute(db);
  await sql`grant select, insert, update, delete on embeddings, embedding_requests to shiftwork_api, shiftwork_worker`.execute(
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
