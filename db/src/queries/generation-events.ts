import type { GenerationEvent, NewEvent } from "@shiftwork/contracts";
import { sql } from "kysely";
import type { Tx } from "../transaction.ts";

/** Channel of the append signal; the payload is the generation's id. */
export const EVENTS_CHANNEL = "shiftwork_events";

export interface EventsToAppend {
  readonly tenantId: string;
  readonly generationId: string;
  readonly events: readonly NewEvent[];
}

/**
 * Appends events after the generation's last one and signals the readers when the transaction commits. The caller's
 * transaction acts as the tenant. The primary key makes a second writer of the same numbers fail, never interleave.
 */
export async function appendEvents(tx: Tx, { tenantId, generationId, events }: EventsToAppend): Promise<void> {
  if (events.length === 0) return;
  await sql`
    insert into generation_events (tenant_id, generation_id, seq, type, data)
    select ${tenantId}, ${generationId}, coalesce(last.seq, 0) + new.position, new.event->>'type', new.event->'data'
    from jsonb_array_elements(${sql.val(events)}::jsonb) with ordinality as new (event, position),
         (select max(seq) as seq from generation_events
          where tenant_id = ${tenantId} and generation_id = ${generationId}) as last
  `.execute(tx);
  await signalAppend(tx, generationId);
}

/**
 * As `appendEvents`, but only while the attempt that holds `fence` is the running one; false = it is not any more and
 * nothing was written. Live output goes through here, so a worker that was taken for dead cannot write into its
 * successor's stream.
 */
export async function appendEventsFenced(
  tx: Tx,
  append: EventsToAppend & { readonly fence: number },
): Promise<boolean> {
  const { tenantId, generationId, fence, events } = append;
  const { rows } = await sql`
    insert into generation_events (tenant_id, generation_id, seq, type, data)
    select ${tenantId}, ${generationId}, coalesce(last.seq, 0) + new.position, new.event->>'type', new.event->'data'
    from jsonb_array_elements(${sql.val(events)}::jsonb) with ordinality as new (event, position),
         (select max(seq) as seq from generation_events
          where tenant_id = ${tenantId} and generation_id = ${generationId}) as last
    where exists (
      select from generations
      where tenant_id = ${tenantId} and id = ${generationId} and status = 'running' and fence = ${fence}
    )
    returning seq
  `.execute(tx);
  if (rows.length === 0) return false;
  await signalAppend(tx, generationId);
  return true;
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

/** Text streamed since the last reset: what is kept of a run whose worker died. */
export async function readStreamedText(tx: Tx, tenantId: string, generationId: string): Promise<string> {
  const { rows } = await sql<{ text: string }>`
    select coalesce(string_agg(data->>'delta', '' order by seq), '') as text
    from generation_events
    where tenant_id = ${tenantId} and generation_id = ${generationId} and type = 'message.delta'
      and seq > coalesce((
        select max(seq) from generation_events
        where tenant_id = ${tenantId} and generation_id = ${generationId}
          and type = 'generation.retrying' and (data->>'resetOutput')::boolean
      ), 0)
  `.execute(tx);
  return rows[0]?.text ?? "";
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
  await sql`select pg_notify(${EVENTS_CHANNEL}, ${generationId})`.execute(tx);
}
