import { sql } from "kysely";
import type { Tx } from "../transaction.ts";

export interface MessageToForget {
  readonly id: string;
  readonly chatId: string;
  readonly publicId: string;
  readonly answeredAt: readonly string[];
}

/**
 * Takes a message's text out of what would tell it once more: the events its run streamed, requests kept for a replay, and
 * the answer kept for a repeat, which stays as an answer. Call under the lock of an idle chat, before it is deleted;
 * `publicId` is the id that stored answers show, `answeredAt` the paths that answer with the message: keys are found by path.
 * Returns the generations that streamed it, for an event log of its own to forget.
 */
export async function deleteMessageTraces(
  tx: Tx,
  tenantId: string,
  { id, chatId, publicId, answeredAt }: MessageToForget,
): Promise<readonly string[]> {
  const streamed = await sql<{ id: string }>`
    with streamed as (
      select id from generations where tenant_id = ${tenantId} and chat_id = ${chatId} and output_message_id = ${id}
    ),
    gone as (
      delete from generation_events where tenant_id = ${tenantId} and generation_id in (select id from streamed)
    )
    select id from streamed
  `.execute(tx);
  // A request says nothing of the messages it was made of.
  await sql`
    update generation_contents set replay = null
    where tenant_id = ${tenantId} and chat_id = ${chatId} and replay is not null
  `.execute(tx);
  await sql`
    update idempotency_keys set body = jsonb_set(body, '{body,content}', '""')
    where tenant_id = ${tenantId} and method = 'POST' and path = any(${[...answeredAt]}::text[])
      and body #>> '{body,id}' = ${publicId}
  `.execute(tx);
  return streamed.rows.map((generation) => generation.id);
}
