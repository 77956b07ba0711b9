import { sql } from "kysely";
import type { Tx } from "../transaction.ts";
import type { StoppedGeneration } from "./chats.ts";
import { endQueued } from "./cancel.ts";
import { CANCEL_CHANNEL } from "./generations.ts";
import { lastInLineFirst, type Waiting } from "./place-in-line.ts";

export interface ManyCancelled {
  /** Waited and are cancelled now. */
  readonly ended: readonly StoppedGeneration[];
  /** Run; their workers have been told. */
  readonly signalled: number;
}

/**
 * Accepts the cancel of many of a tenant's generations: one statement decides about all of them, as `requestCancel` does
 * about one. Those that are not active, or cancelling already, are left out.
 */
export async function requestCancels(
  tx: Tx,
  tenantId: string,
  ids: readonly string[],
  reason: string | null,
): Promise<ManyCancelled> {
  await lockChatsOf(tx, tenantId, ids);
  const { rows } = await sql<Cancelled>`
    update generations set
      cancel_requested_at = now(),
      cancel_reason = ${reason},
      status = case when status = 'queued' then 'cancelled' else status end,
      finished_at = case when status = 'queued' then now() end
    where tenant_id = ${tenantId} and id = any(${[...ids]}::uuid[])
      and status in ('queued', 'running') and cancel_requested_at is null
    returning id, status, epoch, chat_id as "chatId", blocked_by as "blockedBy"
  `.execute(tx);
  const running = rows.filter((row) => row.status === "running").map((row) => row.id);
  await sql`select pg_notify(${CANCEL_CHANNEL}, id) from unnest(${running}::text[]) as told (id)`.execute(tx);
  // So that who waits behind several of them is handed up from one to the next.
  const ended = lastInLineFirst(rows.filter((row) => row.status === "cancelled"));
  for (const { id, chatId } of ended) await endQueued(tx, { tenantId, generationId: id, chatId });
  return { ended: ended.map(({ id, epoch }) => ({ generationId: id, epoch })), signalled: running.length };
}

/** Those that wait for one of these, and those that wait for them in turn. */
export async function findBehind(tx: Tx, tenantId: string, ids: readonly string[]): Promise<readonly Waiting[]> {
  const { rows } = await sql<Waiting>`
    with recursive behind as (
      select id, blocked_by from generations
      where tenant_id = ${tenantId} and blocked_by = any(${[...ids]}::uuid[]) and status = 'queued'
      union
      select next.id, next.blocked_by from behind
      join generations as next on next.tenant_id = ${tenantId} and next.blocked_by = behind.id and next.status = 'queued'
    )
    select id, blocked_by as "blockedBy" from behind
  `.execute(tx);
  return rows;
}

interface Cancelled extends Waiting {
  readonly status: "running" | "cancelled";
  readonly epoch: number;
  readonly chatId: string | null;
}

/** Chats before generations, and always in one order: two batches must not wait for each other. */
async function lockChatsOf(tx: Tx, tenantId: string, ids: readonly string[]): Promise<void> {
  await sql`
    select id from chats
    where tenant_id = ${tenantId} and id in (
      select chat_id from generations where tenant_id = ${tenantId} and id = any(${[...ids]}::uuid[])
    )
    order by id for update
  `.execute(tx);
}
