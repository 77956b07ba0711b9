import type { GenerationEvent, NewEvent } from "@shiftwork/contracts";
import { sql } from "kysely";
import { sendAlong } from "../round-trips.ts";
import type { Tx } from "../transaction.ts";

/** Channel of the append signal; the payload is the generation's id. */
export const EVENTS_CHANNEL = "shiftwork_events";

export interface EventsToAppend {
  readonly tenantId: string;
  readonly generationId: string;
  readonly events: readonly NewEvent[];
  /** They are the generation's first: numbers begin at 1. Default false. */
  readonly first?: boolean;
  /** Numbers up to this one are taken by events that need not stand in this table. Default: none. */
  readonly afterSeq?: number | undefined;
}

/** Where numbering goes on when a crash of the database has emptied the unlogged table: readers see the gap and say so. */
const RESTART_STEP = 1_000_000;

/**
 * Above every number that the attempt with this fence can have used: for who goes on without knowing its last one. An
 * attempt that was claimed after a crash began at the step of its fence, so this is half a step on, before the next one's.
 */
export function numberBeyond(fence: number): number {
  return (fence + 1) * RESTART_STEP + RESTART_STEP / 2;
}

/**
 * Appends events after the generation's last one and signals the readers when the transaction commits; returns the last
 * number. The caller's transaction acts as the tenant. The primary key makes a second writer of the same numbers fail,
 * never interleave.
 */
export async function appendEvents(
  tx: Tx,
  { tenantId, generationId, events, first = false, afterSeq }: EventsToAppend,
): Promise<number> {
  const { rows } = await sql<{ seq: number }>`
    insert into generation_events (tenant_id, generation_id, seq, type, data)
    select ${tenantId}, ${generationId}, coalesce(
        greatest(
          (select max(seq) from generation_events where tenant_id = ${tenantId} and generation_id = ${generationId}),
          ${afterSeq ?? null}::int
        ),
        case when ${first}::boolean then 0 else (fence + 1) * ${RESTART_STEP}::int end
      ) + new.position, new.event->>'type', new.event->'data'
    from generations, jsonb_array_elements(${sql.val(events)}::jsonb) with ordinality as new (event, position)
    where tenant_id = ${tenantId} and id = ${generationId}
    returning seq
  `.execute(tx);
  await signalAppend(tx, generationId);
  return Math.max(...rows.map((row) => row.seq));
}

/** A writer's place in the log: the attempt that holds `fence`, and the last number it knows of. */
export interface LiveAppend extends Omit<EventsToAppend, "first" | "afterSeq"> {
  readonly fence: number;
  readonly afterSeq: number;
  /** Nothing that the transaction writes has to outlive a crash: its commit does not wait for the disk. Default false. */
  readonly mayBeLost?: boolean;
}

/**
 * Appends behind `afterSeq`, but only while the attempt that holds `fence` is the running one; false = it is not any more
 * and nothing was written, so a worker that was taken for dead cannot write into its successor's stream. Numbers are the
 * writer's own, so a batch whose commit was not answered can be written again without doubling it. The row stays locked
 * till the commit: what ends the run, or deletes its chat, comes before these events and stops them, or after them and
 * finds them. Lock the chat first when the transaction also writes to it.
 */
export async function appendEventsFenced(tx: Tx, append: LiveAppend): Promise<boolean> {
  const { tenantId, generationId, fence, afterSeq, events, mayBeLost = false } = append;
  // A crash empties the unlogged log however its commits were made; all the disk would be waited for is the row's lock.
  const { rows } = await sql<{ mine: boolean }>`
    with mine as (
      select from generations
      where tenant_id = ${tenantId} and id = ${generationId} and status = 'running' and fence = ${fence}
      for share
    ),
    written as (
      insert into generation_events (tenant_id, generation_id, seq, type, data)
      select ${tenantId}, ${generationId}, ${afterSeq}::int + new.position, new.event->>'type', new.event->'data'
      from mine, jsonb_array_elements(${sql.val(events)}::jsonb) with ordinality as new (event, position)
      on conflict (tenant_id, generation_id, seq) do nothing
    )
    select exists (select from mine) as mine, pg_notify(${EVENTS_CHANNEL}, ${generationId}),
      case when ${mayBeLost}::boolean then set_config('synchronous_commit', 'off', true) end
  `.execute(tx);
  return rows[0]?.mine ?? false;
}

/** Events with `seq > after`, in order. */
export async function readEvents(
  tx: Tx,
  tenantId: string,
  generationId: string,
  after: number,
  limit: number,
): Promise<readonly GenerationEvent[]> {
  const rows = await tx
    .selectFrom("generation_events")
    .select(["seq", "type", "data", "generation_id as generationId"])
    .where("tenant_id", "=", tenantId)
    .where("generation_id", "=", generationId)
    .where("seq", ">", after)
    .orderBy("seq")
    .limit(limit)
    .execute();
  return rows as unknown as readonly GenerationEvent[];
}

/** Whether the event that tells of the end is there: it has not expired, and no crash has emptied the log behind it. */
export async function isEndInLog(tx: Tx, tenantId: string, generationId: string): Promise<boolean> {
  const { rows } = await sql`
    select from generation_events
    where tenant_id = ${tenantId} and generation_id = ${generationId}
      and type in ('generation.completed', 'generation.failed', 'generation.cancelled')
    limit 1
  `.execute(tx);
  return rows.length > 0;
}

/** Deletes events older than `olderThanMs`; returns how many. Runs per tenant, because events are content. */
export async function deleteExpiredEvents(tx: Tx, tenantId: string, olderThanMs: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from generation_events
    where tenant_id = ${tenantId} and created_at < now() - make_interval(secs => ${olderThanMs / 1000})
  `.execute(tx);
  return Number(numAffectedRows ?? 0);
}

async function signalAppend(tx: Tx, generationId: string): Promise<void> {
  await sendAlong(tx, sql`select pg_notify(${EVENTS_CHANNEL}, ${generationId})`);
}
