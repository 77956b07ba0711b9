import { sql } from "kysely";
import type { Db } from "../transaction.ts";

export interface Undispatched {
  readonly tenantId: string;
  readonly generationId: string;
  readonly epoch: number;
}

/**
 * The next generations to hand to the queue: oldest first, each tenant up to its own limit, all together up to
 * `slots × windowRatio` in flight, where slots are those of the workers alive within `deadAfterMs`. The window keeps the
 * queue short, so that order is decided here and a cancel or a new tenant takes effect at once.
 */
export async function findUndispatched(
  db: Db,
  window: { readonly windowRatio: number; readonly deadAfterMs: number },
): Promise<readonly Undispatched[]> {
  const { rows } = await sql<Undispatched>`
    with in_flight as (
      select tenant_id, count(*)::int as count from generations
      where status = 'running' or (status = 'queued' and dispatched_at is not null)
      group by tenant_id
    ),
    room as (
      select greatest(0, ceil(coalesce((
        select sum(slots) from workers where heartbeat_at > now() - make_interval(secs => ${window.deadAfterMs / 1000})
      ), 0) * ${window.windowRatio}::float8) - coalesce((select sum(count) from in_flight), 0))::int as free
    ),
    waiting as (
      select distinct tenant_id from generations
      where status = 'queued' and dispatched_at is null and blocked_by is null
    )
    select next.tenant_id as "tenantId", next.id as "generationId", next.epoch
    from waiting
    join tenants on tenants.id = waiting.tenant_id
    left join in_flight on in_flight.tenant_id = waiting.tenant_id
    cross join lateral (
      select tenant_id, id, epoch from generations
      where tenant_id = waiting.tenant_id and status = 'queued' and dispatched_at is null and blocked_by is null
        and (not_before is null or not_before <= now())
      order by priority, id
      limit greatest(0, tenants.max_concurrency - coalesce(in_flight.count, 0))
    ) as next
    order by next.id
    limit (select free from room)
  `.execute(db);
  return rows;
}

/** After the queue has them. A crash in between adds the same job id again, which is a no-op. */
export async function markDispatched(db: Db, generations: readonly Undispatched[]): Promise<void> {
  await sql`
    update generations set dispatched_at = now()
    from jsonb_to_recordset(${generations}::jsonb) as job ("generationId" uuid, epoch integer)
    where id = job."generationId" and generations.epoch = job.epoch and status = 'queued' and dispatched_at is null
  `.execute(db);
}

/** Dispatched longer than `olderThanMs` ago and still not claimed: perhaps the queue lost them. */
export async function findUnclaimed(db: Db, olderThanMs: number, limit: number): Promise<readonly Undispatched[]> {
  const { rows } = await sql<Undispatched>`
    select tenant_id as "tenantId", id as "generationId", epoch from generations
    where status = 'queued' and dispatched_at < now() - make_interval(secs => ${olderThanMs / 1000})
    order by dispatched_at limit ${limit}
  `.execute(db);
  return rows;
}

/** Gives a lost dispatch back to the dispatcher under a new epoch, so that its new job id is unknown to the queue. */
export async function undoDispatch(db: Db, generation: Undispatched): Promise<void> {
  await sql`
    update generations set epoch = epoch + 1, dispatched_at = null
    where tenant_id = ${generation.tenantId} and id = ${generation.generationId}
      and status = 'queued' and epoch = ${generation.epoch}
  `.execute(db);
}

/** Every tenant there is. */
export async function findAllTenants(db: Db): Promise<readonly string[]> {
  const rows = await db.selectFrom("tenants").select("id").orderBy("id").execute();
  return rows.map((row) => row.id);
}

/** Tenants whose generations ended in the last hour: whose event buffers may hold something to expire. */
export async function findRecentlyActiveTenants(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ tenantId: string }>`
    select distinct tenant_id as "tenantId" from generations where finished_at > now() - interval '1 hour'
  `.execute(db);
  return rows.map((row) => row.tenantId);
}
