import { sql } from "kysely";
import type { Tx } from "../transaction.ts";
import { bumpChatRevision } from "./chat-revision.ts";
import type { MessageRow } from "./messages.ts";

/** What of a message may change once it is written; its place, role and tool links may not. */
export type MessageChange = Pick<MessageRow, "content" | "pinned" | "hidden" | "meta">;
type Place = Pick<MessageRow, "id" | "chatId" | "branch" | "seq">;

/** Writes a message anew and counts the chat's revision up. Call under the chat's lock. */
export async function updateMessage(tx: Tx, tenantId: string, before: MessageRow, next: MessageChange): Promise<void> {
  const { content, pinned, hidden, meta } = next;
  await tx
    .updateTable("messages")
    .set({ content, pinned, hidden, meta })
    .where("tenant_id", "=", tenantId)
    .where("chat_id", "=", before.chatId)
    .where("id", "=", before.id)
    .execute();
  if (content !== before.content) await forgetAnchor(tx, tenantId, before);
  await bumpChatRevision(tx, tenantId, before.chatId);
}

/** A history that was cut at this text is trimmed anew (`pipeline.md` §4, `lowWater`). */
async function forgetAnchor(tx: Tx, tenantId: string, { id, chatId }: Place): Promise<void> {
  await tx
    .updateTable("generations")
    .set({ anchor_message_id: null })
    .where("tenant_id", "=", tenantId)
    .where("chat_id", "=", chatId)
    .where("anchor_message_id", "=", id)
    .execute();
}

/**
 * Deletes one variant of a position, and what names it no longer does. In place of the chosen variant the newest other
 * one is chosen, complete before partial; without one the position stays empty. Call under the lock of an idle chat.
 */
export async function deleteMessage(tx: Tx, tenantId: string, message: Place & { active: boolean }): Promise<void> {
  await tx
    .deleteFrom("messages")
    .where("tenant_id", "=", tenantId)
    .where("chat_id", "=", message.chatId)
    .where("id", "=", message.id)
    .execute();
  if (message.active) await chooseNewest(tx, tenantId, message);
  await forgetMessage(tx, tenantId, message);
  await bumpChatRevision(tx, tenantId, message.chatId);
}

/** A failed run's text is only shown. */
async function chooseNewest(tx: Tx, tenantId: string, { chatId, branch, seq }: Place): Promise<void> {
  await sql`
    update messages set active = true
    where tenant_id = ${tenantId} and id = (
      select id from messages
      where tenant_id = ${tenantId} and chat_id = ${chatId} and branch = ${branch} and seq = ${seq} and not failed
      order by partial, variant desc limit 1
    )
  `.execute(tx);
}

async function forgetMessage(tx: Tx, tenantId: string, { id, chatId }: Place): Promise<void> {
  await sql`
    update generations set
      input_message_id = nullif(input_message_id, ${id}),
      target_message_id = nullif(target_message_id, ${id}),
      output_message_id = nullif(output_message_id, ${id}),
      anchor_message_id = nullif(anchor_message_id, ${id})
    where tenant_id = ${tenantId} and chat_id = ${chatId}
      and ${id} in (input_message_id, target_message_id, output_message_id, anchor_message_id)
  `.execute(tx);
  await tx
    .updateTable("memories")
    .set({ source_message_id: null })
    .where("tenant_id", "=", tenantId)
    .where("chat_id", "=", chatId)
    .where("source_message_id", "=", id)
    .execute();
}

/** Makes a message the chosen variant of its position. Call under the lock of an idle chat. */
export async function chooseVariant(tx: Tx, tenantId: string, { id, chatId, branch, seq }: Place): Promise<void> {
  // First off, then on: the index that allows one active variant looks after every row.
  await tx
    .updateTable("messages")
    .set({ active: false })
    .where("tenant_id", "=", tenantId)
    .where("chat_id", "=", chatId)
    .where("branch", "=", branch)
    .where("seq", "=", seq)
    .where("active", "=", true)
    .execute();
  await tx
    .updateTable("messages")
    .set({ active: true })
    .where("tenant_id", "=", tenantId)
    .where("chat_id", "=", chatId)
    .where("id", "=", id)
    .execute();
  await bumpChatRevision(tx, tenantId, chatId);
}
