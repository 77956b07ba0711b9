import { sql } from "kysely";
import type { Db } from "../transaction.ts";
import { DISPATCH_CHANNEL } from "./generations.ts";
import { DISPATCHED_QUEUE } from "./queues.ts";

/** A generation as the queue's job names it. */
export interface Undispatched {
  readonly tenantId: string;
  readonly generationId: string;
  readonly epoch: number;
}

/** What bounds a tenant's share of the window. */
export interface DispatchLimits {
  readonly tenantId: string;
  /** 1–100: its share of the slots against that of others. */
  readonly weight: number;
  /** In flight beyond this only while no other tenant below its own share waits; null = no such cap. */
  readonly concurrencyShare: number | null;
  /** In flight at most, whoever waits. */
  readonly maxConcurrency: number;
}

export interface DispatchWindow {
  /** Slots of the workers alive. */
  readonly slots: number;
  /** An operator stopped the queue. */
  readonly paused: boolean;
  /** Dispatched or running, by tenant; tenants without any are left out. */
  readonly inFlight: ReadonlyMap<string, number>;
  /** Until the next told wait is over, in milliseconds, 0 or less when one is; null = nobody waits for a time. */
  readonly nextDueMs: number | null;
}

// The three conditions below are those of the partial indexes, word for word: each query reads that index and no more.
export const READY = sql`status = 'queued' and dispatched_at is null and blocked_by is null and not_before is null`;
export const TOLD_WAIT = sql`status = 'queued' and dispatched_at is null and blocked_by is null and not_before is not null`;
export const IN_FLIGHT = sql`(status = 'running' or (status = 'queued' and dispatched_at is not null))`;

const LIMITS = sql`
  tenants.id as "tenantId", weight, concurrency_share as "concurrencyShare", max_concurrency as "maxConcurrency"
`;

/** How much is in flight and how much may be; workers count while they were heard of within `deadAfterMs`. */
export async function readDispatchWindow(db: Db, deadAfterMs: number): Promise<DispatchWindow> {
  const { rows } = await sql<Omit<DispatchWindow, "inFlight"> & { inFlight: Record<string, number> }>`
    select
      (select coalesce(sum(slots), 0)::int from workers
        where heartbeat_at > now() - make_interval(secs => ${deadAfterMs / 1000})) as slots,
      exists (select from queues where name = ${DISPATCHED_QUEUE} and paused_at is not null) as paused,
      (select coalesce(jsonb_object_agg(tenant_id, count), '{}') from (
        select tenant_id, count(*) from generations where ${IN_FLIGHT} group by tenant_id
      ) as by_tenant) as "inFlight",
      (select extract(epoch from min(not_before) - now())::float8 * 1000 from generations
        where ${TOLD_WAIT}) as "nextDueMs"
  `.execute(db);
  const [row] = rows;
  if (!row) throw new Error("a select without a from clause returned no row");
  return { ...row, inFlight: new Map(Object.entries(row.inFlight)) };
}

/** Every tenant with something to hand out, paused ones left out. One index probe per tenant, however long the lines. */
export async function findReadyTenants(db: Db): Promise<readonly DispatchLimits[]> {
  const { rows } = await sql<DispatchLimits>`
    with recursive waiting (tenant_id) as (
      (select tenant_id from generations where ${READY} order by tenant_id limit 1)
      union all
      select (
        select tenant_id from generations where ${READY} and tenant_id > waiting.tenant_id order by tenant_id limit 1
      ) from waiting where waiting.tenant_id is not null
    )
    select ${LIMITS} from waiting join tenants on tenants.id = waiting.tenant_id where paused_at is null
  `.execute(db);
  return rows;
}

/** Those of the given tenants that have something to hand out. */
export async function findReadyAmong(db: Db, tenantIds: readonly string[]): Promise<readonly DispatchLimits[]> {
  const { rows } = await sql<DispatchLimits>`
    select ${LIMITS} from tenants
    where id = any(${tenantIds}::uuid[]) and paused_at is null
      and exists (select from generations where tenant_id = tenants.id and ${READY})
  `.execute(db);
  return rows;
}

/** How many of a tenant's line are wanted. */
export interface WantedHead {
  readonly tenantId: string;
  readonly count: number;
}

/**
 * The first of each tenant's line, by priority, then age: `count` and, where there is one, a further row. Who gets no
 * further row has nobody left.
 */
export async function findHeads(db: Db, wanted: readonly WantedHead[]): Promise<readonly Undispatched[]> {
  const { rows } = await sql<Undispatched>`
    select head.tenant_id as "tenantId", head.id as "generationId", head.epoch
    from jsonb_to_recordset(${wanted}::jsonb) as wanted ("tenantId" uuid, count integer)
    cross join lateral (
      select tenant_id, priority, id, epoch from generations
      where tenant_id = wanted."tenantId" and ${READY}
      order by priority, id
      limit wanted.count + 1
    ) as head
    order by head.priority, head.id
  `.execute(db);
  return rows;
}

/** Ends the told waits that are over; returns whose they were. */
export async function endDueWaits(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ tenantId: string }>`
    update generations set not_before = null where ${TOLD_WAIT} and not_before <= now()
    returning tenant_id as "tenantId"
  `.execute(db);
  return rows.map((row) => row.tenantId);
}

/** After the queue has them. A crash in between adds the same job id again, which is a no-op. */
export async function markDispatched(db: Db, generations: readonly Undispatched[]): Promise<void> {
  await sql`
    update generations set dispatched_at = now()
    from jsonb_to_recordset(${generations}::jsonb) as job ("tenantId" uuid, "generationId" uuid, epoch integer)
    where tenant_id = job."tenantId" and id = job."generationId" and generations.epoch = job.epoch
      and status = 'queued' and dispatched_at is null
  `.execute(db);
}

/** Handed out and not claimed: for longer than `olderThanMs`, or, where an operator paused, at all. Oldest first. */
export async function findUnclaimed(db: Db, olderThanMs: number, limit: number): Promise<readonly Undispatched[]> {
  const { rows } = await sql<Undispatched>`
    select tenant_id as "tenantId", generations.id as "generationId", epoch
    from generations join tenants on tenants.id = generations.tenant_id
    where ${IN_FLIGHT} and status = 'queued' and (
      dispatched_at < now() - make_interval(secs => ${olderThanMs / 1000})
      or tenants.paused_at is not null
      or exists (select from queues where name = ${DISPATCHED_QUEUE} and queues.paused_at is not null)
    )
    order by dispatched_at limit ${limit}
  `.execute(db);
  return rows;
}

/**
 * Gives a dispatch back to the line under a new epoch, so that its new job id is unknown to the queue; false = it was
 * claimed, ended or given back meanwhile.
 */
export async function undoDispatch(db: Db, generation: Undispatched): Promise<boolean> {
  const { rows } = await sql`
    with undone as (
      update generations set epoch = epoch + 1, dispatched_at = null
      where tenant_id = ${generation.tenantId} and id = ${generation.generationId}
        and status = 'queued' and dispatched_at is not null and epoch = ${generation.epoch}
      returning tenant_id
    )
    select pg_notify(${DISPATCH_CHANNEL}, tenant_id::text) from undone
  `.execute(db);
  return rows.length > 0;
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
