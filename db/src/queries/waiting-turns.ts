import { sql } from "kysely";
import { uuidv7 } from "uuidv7";
import type { PendingMessage } from "../tables.ts";
import type { Tx } from "../transaction.ts";
import { appendMessages } from "./messages.ts";

/**
 * Moves up what waited for a generation that has ended: its message takes its place at the end of the chat, and it may
 * be dispatched. When the ended one was waiting itself, its successor waits on for the same predecessor. Call under the
 * chat's lock, in the transaction that ended the generation, after its reply was stored; then wake the dispatcher.
 */
export async function releaseSuccessor(
  tx: Tx,
  ended: { readonly tenantId: string; readonly chatId: string; readonly generationId: string },
): Promise<void> {
  const { tenantId, chatId, generationId } = ended;
  const { rows } = await sql<{ id: string; blockedBy: string | null }>`
    update generations as next set blocked_by = ended.blocked_by
    from generations as ended
    where ended.tenant_id = ${tenantId} and ended.id = ${generationId}
      and next.tenant_id = ${tenantId} and next.blocked_by = ended.id and next.status = 'queued'
    returning next.id, next.blocked_by as "blockedBy"
  `.execute(tx);
  const next = rows[0];
  if (next && next.blockedBy === null) await attachPendingMessage(tx, tenantId, chatId, next.id);
}

/**
 * Puts the message of a turn that waited, or ended while it waited, at the end of the chat, once; returns its id, `null`
 * when there is none. Call under the chat's lock.
 */
export async function attachPendingMessage(
  tx: Tx,
  tenantId: string,
  chatId: string,
  generationId: string,
): Promise<string | null> {
  const contents = await tx
    .selectFrom("generation_contents")
    .select("pending_message as pending")
    .where("tenant_id", "=", tenantId)
    .where("generation_id", "=", generationId)
    .executeTakeFirst();
  if (!contents?.pending) return null;
  const id = await appendUserMessage(tx, tenantId, chatId, contents.pending);
  await tx
    .updateTable("generation_contents")
    .set({ pending_message: null })
    .where("tenant_id", "=", tenantId)
    .where("generation_id", "=", generationId)
    .execute();
  await tx
    .updateTable("generations")
    .set({ input_message_id: id })
    .where("tenant_id", "=", tenantId)
    .where("id", "=", generationId)
    .execute();
  return id;
}

/** Puts what the user said at the end of the chat and returns its id. Call under the chat's lock. */
export async function appendUserMessage(
  tx: Tx,
  tenantId: string,
  chatId: string,
  { content, name }: PendingMessage,
): Promise<string> {
  const id = uuidv7();
  await appendMessages(tx, tenantId, chatId, [
    {
      id,
      role: "user",
      content,
      name,
      toolCalls: [],
      toolCallId: null,
      pinned: false,
      hidden: false,
      meta: {},
      variant: 0,
      alternatives: [],
      createdAt: null,
    },
  ]);
  return id;
}
