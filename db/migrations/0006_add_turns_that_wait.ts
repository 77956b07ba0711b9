import { sql, type Kysely } from "kysely";

/**
 * What fair dispatch decides by (weights, soft caps, pauses, priorities), generations that wait for a time or for the one
 * before them in their chat, and requests that are sent again unchanged.
 */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`
    alter table tenants
      add column weight integer not null default 1 check (weight between 1 and 100),
      -- Soft cap: holds only while another tenant waits. Null = none.
      add column concurrency_share integer check (concurrency_share > 0),
      add column paused_at timestamptz
  `.execute(db);
  await addWaiting(db);
  await sql`
    alter table generation_contents
      -- The user's message of a turn that waits for the one before it: stored here until its place in the chat is known.
      add column pending_message jsonb,
      -- The request of an earlier run, sent again as it was; no stage runs.
      add column replay jsonb
  `.execute(db);
  await createQueues(db);
}

async function addWaiting(db: Kysely<never>): Promise<void> {
  await sql`
    alter table generations
      -- 1 = first, 9 = last, among those of one tenant.
      add column priority smallint not null default 5 check (priority between 1 and 9),
      -- A told wait: not handed to the queue before.
      add column not_before timestamptz,
      -- The generation of the same chat that has to end first; whatever ends it releases this one.
      add column blocked_by uuid,
      add constraint generations_blocked_only_queued check (blocked_by is null or status not in ('running', 'completed'))
  `.execute(db);
  await sql`drop index generations_one_running_per_chat`.execute(db);
  await sql`
    create unique index generations_one_active_per_chat on generations (tenant_id, chat_id)
    where status in ('queued', 'running') and blocked_by is null
  `.execute(db);
  await sql`create index generations_blocked on generations (tenant_id, blocked_by) where blocked_by is not null`.execute(
    db,
  );
  await sql`drop index generations_undispatched`.execute(db);
  await sql`
    create index generations_undispatched on generations (tenant_id, priority, id)
    where status = 'queued' and dispatched_at is null and blocked_by is null
  `.execute(db);
}

/** Operators stop and resume a queue; a queue without a row runs. */
async function createQueues(db: Kysely<never>): Promise<void> {
  await sql`create table queues (name text primary key, paused_at timestamptz)`.execute(db);
  await sql`alter table queues enable row level security`.execute(db);
  await sql`alter table queues force row level security`.execute(db);
  for (const role of ["shiftwork_api", "shiftwork_worker", "shiftwork_admin"]) {
    await sql`create policy ${sql.ref(`${role}_queues`)} on queues to ${sql.ref(role)} using (true) with check (true)`.execute(
      db,
    );
  }
  await sql`grant select on queues to shiftwork_api, shiftwork_worker`.execute(db);
  await sql`grant select, insert, update on queues to shiftwork_admin`.execute(db);
}
