import { sql, type Kysely } from "kysely";

/**
 * What the leader has left to hand out, so that the API can put a turn into the queue itself while nobody waits. It may
 * not see the workers or other tenants' generations; it takes from this number instead. And requests that are sent again
 * keep the order of their keys: of a tool's parameters the model sees it.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`alter table generation_contents alter column replay type json`.execute(db);
  await sql`
    create table dispatch_room (
      queue        text primary key,
      -- Runs that still fit into the window; 0 while anybody waits.
      free         integer not null check (free >= 0),
      published_at timestamptz not null default now()
    ) with (fillfactor = 50)
  `.execute(db);
  await sql`insert into dispatch_room (queue, free) values ('default', 0)`.execute(db);
  await sql`alter table dispatch_room enable row level security`.execute(db);
  await sql`alter table dispatch_room force row level security`.execute(db);
  for (const role of ["shiftwork_api", "shiftwork_worker"]) {
    await sql`create policy ${sql.ref(`${role}_room`)} on dispatch_room to ${sql.ref(role)} using (true) with check (true)`.execute(
      db,
    );
    await sql`grant select, update on dispatch_room to ${sql.ref(role)}`.execute(db);
  }
}
