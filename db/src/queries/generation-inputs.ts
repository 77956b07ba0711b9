import type { AssemblyInput, ChatMessage, Conversation, Lorebook } from "@shiftwork/pipeline";
import { sql } from "kysely";
import type { Tx } from "../transaction.ts";
import { onPath, type BranchPath } from "./branch-path.ts";
import { draftMessage, findHistoryPath, loadHistory, type HistoryQuery } from "./history.ts";

export interface ConversationQuery extends HistoryQuery {
  /** Instead of the chat's own. */
  readonly personaId: string | null;
  /** Instead of every bound book. */
  readonly lorebookIds: readonly string[] | null;
}

/** What of an assembly's input stands in the database. */
export type StoredInput = Pick<AssemblyInput, "conversation" | "anchorId">;

/**
 * Loads everything a prompt is made of. The only loader, for worker and preview alike, so that both see the same; null =
 * there is no such chat. Throws when a read fails: a failed read is never an empty chat. `inputMessageId` is the message
 * that is answered: what stands behind it is not part of this turn.
 */
export async function loadAssemblyInput(
  tx: Tx,
  tenantId: string,
  query: ConversationQuery,
): Promise<StoredInput | null> {
  const chat = await tx
    .selectFrom("chats")
    .select(["id", "character_id", "persona_id", "active_branch as activeBranch"])
    .where("tenant_id", "=", tenantId)
    .where("id", "=", query.chatId)
    .executeTakeFirst();
  if (!chat) return null;
  const path = await findHistoryPath(tx, tenantId, chat, query.inputMessageId);
  const owners = { chatId: chat.id, characterId: chat.character_id, personaId: query.personaId ?? chat.persona_id };
  const lorebooks = await loadLorebooks(tx, tenantId, owners, query.lorebookIds);
  return {
    conversation: {
      chatId: chat.id,
      character: await loadCharacter(tx, tenantId, owners.characterId),
      persona: await loadPersona(tx, tenantId, owners.personaId),
      lorebooks,
      memories: await loadMemories(tx, tenantId, owners),
      ...(await loadHistory(tx, path, query, lorebooks)),
    },
    anchorId: await findAnchor(tx, path),
  };
}

/** A turn that has no chat yet: what a character, a persona, and their books and memories bring to the first one. */
export interface NewConversationQuery extends Pick<ConversationQuery, "personaId" | "lorebookIds"> {
  /** Stands for the chat; no row has it. */
  readonly chatId: string;
  readonly characterId: string;
  /** What the character opens the chat with; `null` = nothing. */
  readonly greeting: Pick<ChatMessage, "content" | "name"> | null;
  readonly draft: Pick<ChatMessage, "content" | "name">;
}

/** As `loadAssemblyInput`, for a chat that is not there yet. */
export async function loadNewAssemblyInput(
  tx: Tx,
  tenantId: string,
  { chatId, characterId, personaId, lorebookIds, greeting, draft }: NewConversationQuery,
): Promise<StoredInput> {
  const owners = { chatId, characterId, personaId };
  // Not stored, and still told apart from the draft.
  const opening: readonly ChatMessage[] = greeting
    ? [{ ...draftMessage(greeting, 0), id: "greeting", role: "assistant" }]
    : [];
  return {
    conversation: {
      chatId,
      character: await loadCharacter(tx, tenantId, characterId),
      persona: await loadPersona(tx, tenantId, personaId),
      lorebooks: await loadLorebooks(tx, tenantId, owners, lorebookIds),
      memories: await loadMemories(tx, tenantId, owners),
      messages: [...opening, draftMessage(draft, opening.length)],
    },
    anchorId: null,
  };
}

/** Where the last turn that completed on this path cut its history. */
async function findAnchor(tx: Tx, path: BranchPath): Promise<string | null> {
  const row = await tx
    .selectFrom("generations")
    .innerJoin("messages", "messages.id", "generations.output_message_id")
    .select("anchor_message_id as anchorId")
    .where("generations.tenant_id", "=", path.tenantId)
    .where("generations.chat_id", "=", path.chatId)
    .where("status", "=", "completed")
    .where(onPath(path))
    .orderBy("generations.id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.anchorId ?? null;
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
