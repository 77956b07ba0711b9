import type { Tx } from "../transaction.ts";
import type { IdPage } from "./characters.ts";

export interface NewMemory {
  readonly id: string;
  /** Exactly one of `chatId` and `characterId` is set. */
  readonly chatId: string | null;
  readonly characterId: string | null;
  readonly content: string;
  readonly pinned: boolean;
  readonly sourceMessageId: string | null;
}

export interface MemoryRow extends NewMemory {
  readonly createdAt: Date;
}

export interface MemoryFilter {
  readonly chatId: string | null;
  readonly characterId: string | null;
  /** Set = no memories of other owners' chats. */
  readonly ownerId: string | null;
}

export async function insertMemory(tx: Tx, tenantId: string, memory: NewMemory): Promise<void> {
  await tx
    .insertInto("memories")
    .values({
      tenant_id: tenantId,
      id: memory.id,
      chat_id: memory.chatId,
      character_id: memory.characterId,
      content: memory.content,
      pinned: memory.pinned,
      source_message_id: memory.sourceMessageId,
    })
    .execute();
}

export async function findMemory(
  tx: Tx,
  tenantId: string,
  id: string,
  ownerId: string | null,
): Promise<MemoryRow | null> {
  return (await selectMemories(tx, tenantId, ownerId).where("id", "=", id).executeTakeFirst()) ?? null;
}

/** Newest first. */
export async function listMemories(
  tx: Tx,
  tenantId: string,
  filter: MemoryFilter,
  page: IdPage,
): Promise<readonly MemoryRow[]> {
  return selectMemories(tx, tenantId, filter.ownerId)
    .$if(filter.chatId !== null, (query) => query.where("chat_id", "=", filter.chatId))
    .$if(filter.characterId !== null, (query) => query.where("character_id", "=", filter.characterId))
    .$if(page.afterId !== null, (query) => query.where("id", "<", page.afterId ?? ""))
    .orderBy("id", "desc")
    .limit(page.limit)
    .execute();
}

function selectMemories(tx: Tx, tenantId: string, ownerId: string | null) {
  return tx
    .selectFrom("memories")
    .select([
      "id",
      "chat_id as chatId",
      "character_id as characterId",
      "content",
      "pinned",
      "source_message_id as sourceMessageId",
      "created_at as createdAt",
    ])
    .where("tenant_id", "=", tenantId)
    .$if(ownerId !== null, (query) =>
      query.where((eb) =>
        eb.or([
          eb("chat_id", "is", null),
          eb.exists(
            eb
              .selectFrom("chats")
              .select("chats.id")
              .where("chats.tenant_id", "=", tenantId)
              .whereRef("chats.id", "=", "memories.chat_id")
              .where("chats.owner_id", "=", ownerId),
          ),
        ]),
      ),
    );
}
