import { sql } from "kysely";
import type { ChatSettings } from "../tables.ts";
import type { Tx } from "../transaction.ts";
import type { IdPage } from "./characters.ts";
import { forgetBulkTarget } from "./bulk-actions.ts";
import { EVENTS_CHANNEL } from "./generation-events.ts";
import { CANCEL_CHANNEL, DISPATCH_CHANNEL } from "./generations.ts";

export interface NewChat {
  readonly id: string;
  readonly title: string;
  readonly characterId: string | null;
  readonly personaId: string | null;
  /** Opaque id of the end user the chat belongs to. */
  readonly ownerId: string | null;
  readonly settings: ChatSettings;
  readonly metadata: object;
}

export interface ChatRow extends NewChat {
  readonly revision: number;
  /** The branch the chat shows and sends. */
  readonly activeBranch: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export async function insertChat(tx: Tx, tenantId: string, chat: NewChat): Promise<void> {
  await tx
    .insertInto("chats")
    .values({
      tenant_id: tenantId,
      id: chat.id,
      title: chat.title,
      character_id: chat.characterId,
      persona_id: chat.personaId,
      owner_id: chat.ownerId,
      settings: chat.settings,
      metadata: chat.metadata,
    })
    .execute();
}

/** `ownerId` set = another owner's chat is missing. */
export async function findChat(tx: Tx, tenantId: string, id: string, ownerId: string | null): Promise<ChatRow | null> {
  return (await selectChats(tx, tenantId, ownerId).where("id", "=", id).executeTakeFirst()) ?? null;
}

/** As `findChat`, and locks the row for the rest of the transaction. */
export async function findChatLocked(
  tx: Tx,
  tenantId: string,
  id: string,
  ownerId: string | null,
): Promise<ChatRow | null> {
  return (await selectChats(tx, tenantId, ownerId).where("id", "=", id).forUpdate().executeTakeFirst()) ?? null;
}

/** Newest first. */
export async function listChats(
  tx: Tx,
  tenantId: string,
  ownerId: string | null,
  page: IdPage,
): Promise<readonly ChatRow[]> {
  return selectChats(tx, tenantId, ownerId)
    .$if(page.afterId !== null, (query) => query.where("id", "<", page.afterId ?? ""))
    .orderBy("id", "desc")
    .limit(page.limit)
    .execute();
}

function selectChats(tx: Tx, tenantId: string, ownerId: string | null) {
  return tx
    .selectFrom("chats")
    .select([
      "id",
      "title",
      "character_id as characterId",
      "persona_id as personaId",
      "owner_id as ownerId",
      "revision",
      "active_branch as activeBranch",
      "settings",
      "metadata",
      "created_at as createdAt",
      "updated_at as updatedAt",
    ])
    .where("tenant_id", "=", tenantId)
    .$if(ownerId !== null, (query) => query.where("owner_id", "=", ownerId));
}

export interface StoppedGeneration {
  readonly generationId: string;
  readonly epoch: number;
}

/** What else knew of a deleted chat. */
export interface DeletedChat {
  /** Its active generations, for the queue to forget. */
  readonly stopped: readonly StoppedGeneration[];
  /** Its generations that still had live events, for an event log of its own to forget. */
  readonly streamed: readonly string[];
}

/**
 * Deletes a chat and every text that came from it. Its generations stay as numbers without a chat; active ones are
 * cancelled here. Call under the chat's lock; `publicId` is the id that stored answers show.
 */
export async function deleteChat(
  tx: Tx,
  tenantId: string,
  chat: { readonly id: string; readonly publicId: string },
): Promise<DeletedChat> {
  const stopped = await stopGenerations(tx, tenantId, chat.id);
  await deleteStoredAnswers(tx, tenantId, chat);
  const streamed = await deleteTraces(tx, tenantId, chat.id);
  await forgetBulkTarget(tx, tenantId, chat.publicId);
  // The record of an imported chat keeps the file's name, which is its title.
  await sql`delete from imports where tenant_id = ${tenantId} and result->>'chatId' = ${chat.id}`.execute(tx);
  await sql`
    update generations set chat_id = null, metadata = null, cancel_reason = null,
      error = case when error is not null then error || '{"params": {}}' end
    where tenant_id = ${tenantId} and chat_id = ${chat.id}
  `.execute(tx);
  await tx.deleteFrom("chats").where("tenant_id", "=", tenantId).where("id", "=", chat.id).execute();
  return { stopped, streamed };
}

async function stopGenerations(tx: Tx, tenantId: string, chatId: string): Promise<readonly StoppedGeneration[]> {
  const { rows } = await sql<StoppedGeneration>`
    update generations set
      status = 'cancelled', finished_at = now(), cancel_reason = 'the chat was deleted',
      cancel_requested_at = coalesce(cancel_requested_at, now())
    where tenant_id = ${tenantId} and chat_id = ${chatId} and status in ('queued', 'running')
    returning id as "generationId", epoch
  `.execute(tx);
  for (const { generationId } of rows) {
    await sql`
      select pg_notify(${CANCEL_CHANNEL}, ${generationId}), pg_notify(${EVENTS_CHANNEL}, ${generationId})
    `.execute(tx);
  }
  await sql`select pg_notify(${DISPATCH_CHANNEL}, ${tenantId})`.execute(tx);
  return rows;
}

/** Answers kept for idempotent repeats hold text of the chat and would bring it back. */
async function deleteStoredAnswers(tx: Tx, tenantId: string, chat: { id: string; publicId: string }): Promise<void> {
  await sql`
    delete from idempotency_keys
    where tenant_id = ${tenantId} and (
      generation_id in (select id from generations where tenant_id = ${tenantId} and chat_id = ${chat.id})
      or position(${chat.publicId} in body::text) > 0
      or position(${chat.publicId} in path) > 0
    )
  `.execute(tx);
}

/** Returns the generations that had live events. */
async function deleteTraces(tx: Tx, tenantId: string, chatId: string): Promise<readonly string[]> {
  const deleteFrom = (table: "generation_attempts" | "generation_events" | "generation_labels") =>
    sql<{ generationId: string }>`
      delete from ${sql.table(table)} where tenant_id = ${tenantId} and generation_id in (
        select id from generations where tenant_id = ${tenantId} and chat_id = ${chatId}
      ) returning generation_id as "generationId"
    `.execute(tx);
  await deleteFrom("generation_attempts");
  await deleteFrom("generation_labels");
  const { rows } = await deleteFrom("generation_events");
  return [...new Set(rows.map(({ generationId }) => generationId))];
}
