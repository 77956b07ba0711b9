import { sql } from "kysely";
import type { Db, Tx } from "../transaction.ts";

/** A tenant's active generations by where they stand. */
export interface QueueCounts {
  /** Can be handed out. */
  readonly waiting: number;
  /** Wait for the one before them in their chat. */
  readonly blocked: number;
  /** Wait for a time a provider told. */
  readonly toldToWait: number;
  /** In the queue, not begun. */
  readonly dispatched: number;
  readonly running: number;
  /** Age of the oldest that can be handed out or is in the queue, in milliseconds; null = there is none. */
  readonly oldestWaitMs: number | null;
}

const COUNTS = sql`
  count(*) filter (where status = 'queued' and dispatched_at is null and blocked_by is null and not_before is null)::int
    as waiting,
  count(*) filter (where blocked_by is not null)::int as blocked,
  count(*) filter (where dispatched_at is null and blocked_by is null and not_before is not null)::int as "toldToWait",
  count(*) filter (where status = 'queued' and dispatched_at is not null)::int as dispatched,
  count(*) filter (where status = 'running')::int as running,
  extract(epoch from now() - min(created_at) filter (
    where status = 'queued' and blocked_by is null and (not_before is null or dispatched_at is not null)
  ))::float8 * 1000 as "oldestWaitMs"
`;

/** One tenant's line. Reads every active row of the tenant: at most its `max_queued` and what is in flight. */
export async function countTenantQueue(tx: Tx, tenantId: string): Promise<QueueCounts> {
  const { rows } = await sql<QueueCounts>`
    select ${COUNTS} from generations where tenant_id = ${tenantId} and status in ('queued', 'running')
  `.execute(tx);
  const [row] = rows;
  if (!row) throw new Error("an aggregate returned no row");
  return row;
}

export interface TenantQueueCounts extends QueueCounts {
  readonly tenantId: string;
}

/**
 * The lines of all tenants that have one, the longest wait first. Needs a role that sees them; reads every active row
 * there is. The sums over all tenants are the caller's: {@link sumQueueCounts}.
 */
export async function countQueueByTenant(db: Db): Promise<readonly TenantQueueCounts[]> {
  const { rows } = await sql<TenantQueueCounts>`
    select tenant_id as "tenantId", ${COUNTS} from generations where status in ('queued', 'running')
    group by tenant_id order by "oldestWaitMs" desc nulls last, tenant_id
  `.execute(db);
  return rows;
}

/** Of all tenants together. */
export function sumQueueCounts(tenants: readonly QueueCounts[]): QueueCounts {
  const sum = (count: (tenant: QueueCounts) => number): number =>
    tenants.reduce((total, tenant) => total + count(tenant), 0);
  const waits = tenants.map((tenant) => tenant.oldestWaitMs).filter((wait) => wait !== null);
  return {
    waiting: sum((tenant) => tenant.waiting),
    blocked: sum((tenant) => tenant.blocked),
    toldToWait: sum((tenant) => tenant.toldToWait),
    dispatched: sum((tenant) => tenant.dispatched),
    running: sum((tenant) => tenant.running),
    oldestWaitMs: waits.reduce<number | null>((oldest, wait) => Math.max(oldest ?? 0, wait), null),
  };
}

/** Counted no further: the last place that is told apart. */
export const LAST_QUEUE_POSITION = 1_000;

/**
 * Place in the tenant's line, 1 = next; {@link LAST_QUEUE_POSITION} = there or further back. Null = it does not stand in
 * the line: handed out, running or ended, or it waits for a time or for the one before it in its chat.
 */
export async function readQueuePosition(tx: Tx, tenantId: string, generationId: string): Promise<number | null> {
  const { rows } = await sql<{ position: number }>`
    select (
      select count(*)::int from (
        select from generations
        where tenant_id = ${tenantId} and (priority, id) <= (mine.priority, mine.id)
          and status = 'queued' and dispatched_at is null and blocked_by is null and not_before is null
        limit ${LAST_QUEUE_POSITION}
      ) as ahead
    ) as position
    from generations as mine
    where tenant_id = ${tenantId} and id = ${generationId}
      and status = 'queued' and dispatched_at is null and blocked_by is null and not_before is null
  `.execute(tx);
  return rows[0]?.position ?? null;
}
