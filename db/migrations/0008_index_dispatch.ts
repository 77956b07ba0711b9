import { sql, type Kysely } from "kysely";

/** One small index per question a dispatch pass asks: who can be handed out, what is in flight, which waits are over. */
export async function up(db: Kysely<never>): Promise<void> {
  // A told wait is cleared when it is over: a tenant whose whole line waits for its provider costs a pass nothing.
  await sql`drop index generations_undispatched`.execute(db);
  await sql`
    create index generations_undispatched on generations (tenant_id, priority, id)
    where status = 'queued' and dispatched_at is null and blocked_by is null and not_before is null
  `.execute(db);
  await sql`
    create index generations_told_waits on generations (not_before)
    where status = 'queued' and dispatched_at is null and blocked_by is null and not_before is not null
  `.execute(db);
  // Without the backlog: never more rows than the window, however long the lines are.
  await sql`drop index generations_in_flight`.execute(db);
  await sql`
    create index generations_in_flight on generations (tenant_id, dispatched_at)
    where status = 'running' or (status = 'queued' and dispatched_at is not null)
  `.execute(db);
}
