import type { ChatMessage, Conversation, Lorebook } from "@shiftwork/pipeline";
import { sql } from "kysely";
import type { Tx } from "../transaction.ts";

export interface ConversationQuery {
  readonly chatId: string;
  /** The message to answer: what stands behind it is not part of this turn. Null = the whole branch. */
  readonly inputMessageId: string | null;
  /** A message that is not stored (a preview's), standing after the last one. */
  readonly draft: Pick<ChatMessage, "content" | "name"> | null;
  /** Instead of the chat's own. */
  readonly personaId: string | null;
  /** Instead of every bound book. */
  readonly lorebookIds: readonly string[] | null;
}

/**
 * Loads everything a prompt is made of. The only loader, for worker and preview alike, so that both see the same; null =
 * there is no such chat. Throws when a read fails: a failed read is never an empty chat.
 */
export async function loadConversation(
  tx: Tx,
  tenantId: string,
  query: ConversationQuery,
): Promise<Conversation | null> {
  const chat = await tx
    .selectFrom("chats")
    .select(["id", "character_id", "persona_id"])
    .where("tenant_id", "=", tenantId)
    .where("id", "=", query.chatId)
    .executeTakeFirst();
  if (!chat) return null;
  const owners = { chatId: chat.id, characterId: chat.character_id, personaId: query.personaId ?? chat.persona_id };
  const stored = await loadMessages(tx, tenantId, query.chatId, query.inputMessageId);
  return {
    chatId: chat.id,
    character: await loadCharacter(tx, tenantId, owners.characterId),
    persona: await loadPersona(tx, tenantId, owners.personaId),
    lorebooks: await loadLorebooks(tx, tenantId, owners, query.lorebookIds),
    memories: await loadMemories(tx, tenantId, owners),
    messages: query.draft ? [...stored, draftMessage(query.draft, stored.at(-1)?.seq ?? 0)] : stored,
  };
}

function draftMessage(draft: Pick<ChatMessage, "content" | "name">, lastSeq: number): ChatMessage {
  return {
    id: null,
    seq: lastSeq + 1,
    role: "user",
    content: draft.content,
    name: draft.name,
    toolCalls: [],
    toolCallId: null,
    pinned: false,
    hidden: false,
    optional: false,
    failedPartial: false,
  };
}

async function loadMessages(
  tx: Tx,
  tenantId: string,
  chatId: string,
  inputMessageId: string | null,
): Promise<readonly ChatMessage[]> {
  return tx
    .selectFrom("messages")
    .select([
      "id",
      "seq",
      "role",
      "content",
      "name",
      "tool_calls as toolCalls",
      "tool_call_id as toolCallId",
      "pinned",
      "hidden",
      "failed as failedPartial",
      sql<boolean>`coalesce((meta->>'optional')::boolean, false)`.as("optional"),
    ])
    .where("tenant_id", "=", tenantId)
    .where("chat_id", "=", chatId)
    .where("branch", "=", 0)
    .where("active", "=", true)
    .$if(inputMessageId !== null, (query) =>
      query.where("seq", "<=", (eb) =>
        eb
          .selectFrom("messages as input")
          .select("input.seq")
          .where("input.tenant_id", "=", tenantId)
          .where("input.chat_id", "=", chatId)
          .where("input.id", "=", inputMessageId),
      ),
    )
    .orderBy("seq")
    .execute();
}

async function loadCharacter(tx: Tx, tenantId: string, id: string | null): Promise<Conversation["character"]> {
  if (id === null) return null;
  const row = await tx
    .selectFrom("characters")
    .select(["id", "data"])
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row ? { ...row.data, id: row.id } : null;
}

async function loadPersona(tx: Tx, tenantId: string, id: string | null): Promise<Conversation["persona"]> {
  if (id === null) return null;
  const row = await tx
    .selectFrom("personas")
    .select(["id", "name", "description"])
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row ?? null;
}

interface Owners {
  readonly chatId: string;
  readonly characterId: string | null;
  readonly personaId: string | null;
}

type BoundBook = Omit<Lorebook, "entries">;

async function loadLorebooks(
  tx: Tx,
  tenantId: string,
  owners: Owners,
  only: readonly string[] | null,
): Promise<readonly Lorebook[]> {
  const books = only === null ? await boundBooks(tx, tenantId, owners) : await namedBooks(tx, tenantId, only);
  if (books.length === 0) return [];
  const entries = await tx
    .selectFrom("lorebook_entries")
    .select(["id", "lorebook_id", "uid", "data"])
    .where("tenant_id", "=", tenantId)
    .where("lorebook_id", "in", [...new Set(books.map((book) => book.id))])
    .orderBy("uid")
    .execute();
  return books.map((book) => ({
    ...book,
    entries: entries
      .filter((entry) => entry.lorebook_id === book.id)
      .map((entry) => ({ ...entry.data, id: entry.id, uid: entry.uid })),
  }));
}

async function boundBooks(tx: Tx, tenantId: string, owners: Owners): Promise<readonly BoundBook[]> {
  const { rows } = await sql<BoundBook>`
    select book.id, book.name, book.scan_depth as "scanDepth", book.budget_tokens as "budgetTokens",
      book.word_boundaries as "wordBoundaries",
      case when bound.chat_id is not null then 'chat' when bound.persona_id is not null then 'persona'
           when bound.character_id is not null then 'character' else 'global' end as binding
    from lorebook_bindings as bound
    join lorebooks as book on book.tenant_id = bound.tenant_id and book.id = bound.lorebook_id
    where bound.tenant_id = ${tenantId} and (
      bound.chat_id = ${owners.chatId} or bound.persona_id = ${owners.personaId}
      or bound.character_id = ${owners.characterId}
      or num_nonnulls(bound.chat_id, bound.persona_id, bound.character_id) = 0
    )
    order by bound.created_at, book.id
  `.execute(tx);
  return rows;
}

async function namedBooks(tx: Tx, tenantId: string, ids: readonly string[]): Promise<readonly BoundBook[]> {
  if (ids.length === 0) return [];
  const rows = await tx
    .selectFrom("lorebooks")
    .select([
      "id",
      "name",
      "scan_depth as scanDepth",
      "budget_tokens as budgetTokens",
      "word_boundaries as wordBoundaries",
    ])
    .where("tenant_id", "=", tenantId)
    .where("id", "in", [...ids])
    .orderBy("id")
    .execute();
  return rows.map((row) => ({ ...row, binding: "chat" as const }));
}

async function loadMemories(tx: Tx, tenantId: string, owners: Owners): Promise<Conversation["memories"]> {
  const rows = await tx
    .selectFrom("memories")
    .select(["id", "content", "pinned", "source_message_id as sourceMessageId", "created_at as createdAt"])
    .where("tenant_id", "=", tenantId)
    .where((eb) =>
      owners.characterId === null
        ? eb("chat_id", "=", owners.chatId)
        : eb.or([eb("chat_id", "=", owners.chatId), eb("character_id", "=", owners.characterId)]),
    )
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map((row) => ({ ...row, createdAt: row.createdAt.toISOString() }));
}
