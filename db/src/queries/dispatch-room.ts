import { sql } from "kysely";
import { sendAlong } from "../round-trips.ts";
import type { Db, Tx } from "../transaction.ts";
import { IN_FLIGHT, READY, TOLD_WAIT, undoDispatch, type Undispatched } from "./dispatch.ts";
import { DISPATCH_CHANNEL } from "./generations.ts";

/** Who waits, as the room was published. */
export interface Waiting {
  /** Somebody may be handed out now: that is the dispatcher's, and the room is closed. */
  readonly dispatchable: boolean;
  /** Until the next told wait is over, in milliseconds, 0 or less when one is; null = nobody waits for a time. */
  readonly nextDueMs: number | null;
}

/** With more tenants waiting it is not asked which of them may have a place: the dispatcher looks after all. */
const MOST_TENANTS_ASKED = 20;

/** A tenant that waits may have a place: it is neither paused nor at its cap. One index probe per tenant. */
const DISPATCHABLE = sql`
  with recursive waiting (tenant_id, place) as (
    (select tenant_id, 1 from generations where ${READY} order by tenant_id limit 1)
    union all
    select (
      select tenant_id from generations where ${READY} and tenant_id > waiting.tenant_id order by tenant_id limit 1
    ), place + 1 from waiting where waiting.tenant_id is not null and place <= ${MOST_TENANTS_ASKED}
  )
  select from waiting join tenants on tenants.id = waiting.tenant_id
  where place > ${MOST_TENANTS_ASKED} or (paused_at is null and max_concurrency > (
    select count(*) from generations where tenant_id = tenants.id and ${IN_FLIGHT}
  ))
`;

/**
 * Says how many more generations fit into the window, 0 while anybody waits who may have a place, and returns who does.
 * Locked before it is counted: what was taken before is committed and counted, what comes after sees the new room.
 */
export async function publishRoom(
  db: Db,
  window: { readonly windowRatio: number; readonly deadAfterMs: number },
): Promise<Waiting> {
  return db.transaction().execute(async (tx) => {
    // Nothing is lost with it: a room that a crash takes back is published again by the next pass.
    await sql`
      select set_config('synchronous_commit', 'off', true) from dispatch_room where queue = 'default' for update
    `.execute(tx);
    const { rows } = await sql<{ ready: boolean; nextDueMs: number | null; free: number }>`
      with in_flight as (
        select count(*)::int as count from generations where ${IN_FLIGHT}
      ),
      slots as (
        select coalesce(sum(slots), 0)::int as count from workers
        where heartbeat_at > now() - make_interval(secs => ${window.deadAfterMs / 1000})
      )
      select
        exists (${DISPATCHABLE}) as ready,
        (select extract(epoch from min(not_before) - now())::float8 * 1000 from generations
          where ${TOLD_WAIT}) as "nextDueMs",
        greatest(0, ceil(slots.count * ${window.windowRatio}::float8) - in_flight.count)::int as free
      from in_flight, slots
    `.execute(tx);
    const { ready, nextDueMs, free } = rows[0] ?? { ready: true, nextDueMs: null, free: 0 };
    const dispatchable = ready || (nextDueMs !== null && nextDueMs <= 0);
    const room = dispatchable ? 0 : free;
    await sql`
      update dispatch_room set free = ${room}, published_at = now()
      where queue = 'default' and (free <> ${room} or published_at < now() - interval '1 second')
    `.execute(tx);
    return { dispatchable, nextDueMs };
  });
}

/**
 * Wakes the dispatcher for a tenant that has less in flight now or one more in its line. If somebody of it waits, the room
 * is closed until the dispatcher has looked: what comes now must not pass who may go now. Call it last: the room is held.
 */
export async function wakeDispatcher(tx: Tx, tenantId: string): Promise<void> {
  await sendAlong(
    tx,
    sql`
    with closed as (
      update dispatch_room set free = 0
      where queue = 'default' and free > 0
        and exists (select from generations where tenant_id = ${tenantId} and ${READY})
    )
    select pg_notify(${DISPATCH_CHANNEL}, ${tenantId})
  `,
  );
}

/**
 * Marks a generation as dispatched if there is room for it, or wakes the dispatcher; true = the caller puts it into the
 * queue after the commit. There is no room while somebody waits who may have it or another one of its tenant waits, its
 * tenant is at its cap or paused, the queue is paused, or no leader has been heard of for five seconds. Never waits: whoever
 * finds the room locked leaves the choice to the dispatcher. The room is held till the commit, so call it last.
 */
export async function dispatchAtOnce(tx: Tx, tenantId: string, generationId: string): Promise<boolean> {
  const locked = await sql`
    select from dispatch_room
    where queue = 'default' and free > 0 and published_at > now() - interval '5 seconds'
      and not exists (select from queues where paused_at is not null)
    for update skip locked
  `.execute(tx);
  if (locked.rows.length > 0 && (await takeRoom(tx, tenantId, generationId))) return true;
  await sql`select pg_notify(${DISPATCH_CHANNEL}, ${tenantId})`.execute(tx);
  return false;
}

/** A statement of its own: it sees what was committed up to the lock, so two cannot both be the last under the cap. */
async function takeRoom(tx: Tx, tenantId: string, generationId: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    with taken as (
      update dispatch_room set free = free - 1
      where queue = 'default'
        and exists (
          select from generations where tenant_id = ${tenantId} and id = ${generationId} and blocked_by is null
        )
        and not exists (
          select from generations where tenant_id = ${tenantId} and id <> ${generationId} and ${READY}
        )
        and exists (
          select from tenants
          where id = ${tenantId} and paused_at is null and max_concurrency > (
            select count(*) from generations
            where tenant_id = ${tenantId} and ${IN_FLIGHT}
          )
        )
      returning queue
    )
    update generations set dispatched_at = now() from taken
    where tenant_id = ${tenantId} and id = ${generationId}
  `.execute(tx);
  return Number(numAffectedRows ?? 0) === 1;
}

/** Leaves to the dispatcher what took room and was not taken by the queue. Under a new epoch: perhaps the queue has it after all. */
export async function giveRoomBack(tx: Tx, generation: Undispatched): Promise<void> {
  await undoDispatch(tx, generation);
  await sql`select pg_notify(${DISPATCH_CHANNEL}, ${generation.tenantId})`.execute(tx);
}
