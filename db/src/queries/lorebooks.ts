import type { LoreEntry, Lorebook } from "@shiftwork/pipeline";
import { sql } from "kysely";
import type { Tx } from "../transaction.ts";
import type { IdPage } from "./characters.ts";

/** Where a book applies; all three null = every chat of the tenant. */
export interface BindingRow {
  readonly chatId: string | null;
  readonly personaId: string | null;
  readonly characterId: string | null;
}

export interface NewLorebook extends Pick<Lorebook, "id" | "name" | "scanDepth" | "budgetTokens" | "wordBoundaries"> {
  readonly source: object | null;
}

export interface LorebookRow extends Omit<NewLorebook, "source"> {
  readonly bindings: readonly BindingRow[];
  readonly entryCount: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface NewLoreEntry {
  readonly id: string;
  readonly uid: number;
  readonly data: Omit<LoreEntry, "id" | "uid">;
  readonly source: object | null;
}

export interface LoreEntryRow extends Omit<NewLoreEntry, "source"> {
  readonly lorebookId: string;
  readonly createdAt: Date;
}

/** Rows per insert: PostgreSQL takes 65,535 parameters in one statement. */
const INSERT_ROWS = 5_000;

export async function insertLorebook(tx: Tx, tenantId: string, book: NewLorebook): Promise<void> {
  await tx
    .insertInto("lorebooks")
    .values({
      tenant_id: tenantId,
      id: book.id,
      name: book.name,
      scan_depth: book.scanDepth,
      budget_tokens: book.budgetTokens,
      word_boundaries: book.wordBoundaries,
      source: book.source,
    })
    .execute();
}

/** Binding a book twice to the same place is binding it once. */
export async function bindLorebook(tx: Tx, tenantId: string, lorebookId: string, binding: BindingRow): Promise<void> {
  await tx
    .insertInto("lorebook_bindings")
    .values({
      tenant_id: tenantId,
      lorebook_id: lorebookId,
      chat_id: binding.chatId,
      persona_id: binding.personaId,
      character_id: binding.characterId,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

export async function findLorebook(tx: Tx, tenantId: string, id: string): Promise<LorebookRow | null> {
  return (await selectLorebooks(tx, tenantId).where("id", "=", id).executeTakeFirst()) ?? null;
}

/** Locks the book's row for the rest of the transaction, so that entries get their numbers one by one; false = no such book. */
export async function lockLorebook(tx: Tx, tenantId: string, id: string): Promise<boolean> {
  const row = await tx
    .selectFrom("lorebooks")
    .select("id")
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
  return row !== undefined;
}

/** Newest first. */
export async function listLorebooks(tx: Tx, tenantId: string, page: IdPage): Promise<readonly LorebookRow[]> {
  return selectLorebooks(tx, tenantId)
    .$if(page.afterId !== null, (query) => query.where("id", "<", page.afterId ?? ""))
    .orderBy("id", "desc")
    .limit(page.limit)
    .execute();
}

function selectLorebooks(tx: Tx, tenantId: string) {
  return tx
    .selectFrom("lorebooks")
    .select([
      "id",
      "name",
      "scan_depth as scanDepth",
      "budget_tokens as budgetTokens",
      "word_boundaries as wordBoundaries",
      "created_at as createdAt",
      "updated_at as updatedAt",
    ])
    .select(({ ref }) => [
      sql<readonly BindingRow[]>`(
        select coalesce(jsonb_agg(jsonb_build_object(
          'chatId', bound.chat_id, 'personaId', bound.persona_id, 'characterId', bound.character_id
        ) order by bound.created_at), '[]')
        from lorebook_bindings as bound
        where bound.tenant_id = ${tenantId} and bound.lorebook_id = ${ref("lorebooks.id")}
      )`.as("bindings"),
      sql<number>`(
        select count(*)::int from lorebook_entries as entry
        where entry.tenant_id = ${tenantId} and entry.lorebook_id = ${ref("lorebooks.id")}
      )`.as("entryCount"),
    ])
    .where("tenant_id", "=", tenantId);
}

/** The number after the book's highest; 0 for an empty book. Decide under the book's lock. */
export async function nextEntryUid(tx: Tx, tenantId: string, lorebookId: string): Promise<number> {
  const row = await tx
    .selectFrom("lorebook_entries")
    .select(sql<number>`coalesce(max(uid) + 1, 0)`.as("uid"))
    .where("tenant_id", "=", tenantId)
    .where("lorebook_id", "=", lorebookId)
    .executeTakeFirstOrThrow();
  return row.uid;
}

export async function insertLoreEntries(
  tx: Tx,
  tenantId: string,
  lorebookId: string,
  entries: readonly NewLoreEntry[],
): Promise<void> {
  for (let start = 0; start < entries.length; start += INSERT_ROWS) {
    const rows = entries.slice(start, start + INSERT_ROWS).map((entry) => ({
      tenant_id: tenantId,
      id: entry.id,
      lorebook_id: lorebookId,
      uid: entry.uid,
      data: entry.data,
      source: entry.source,
    }));
    await tx.insertInto("lorebook_entries").values(rows).execute();
  }
}

export async function findLoreEntry(
  tx: Tx,
  tenantId: string,
  lorebookId: string,
  id: string,
): Promise<LoreEntryRow | null> {
  return (await selectEntries(tx, tenantId, lorebookId).where("id", "=", id).executeTakeFirst()) ?? null;
}

/** By ascending uid, those above `afterUid`. */
export async function listLoreEntries(
  tx: Tx,
  tenantId: string,
  lorebookId: string,
  page: { readonly limit: number; readonly afterUid: number | null },
): Promise<readonly LoreEntryRow[]> {
  return selectEntries(tx, tenantId, lorebookId)
    .$if(page.afterUid !== null, (query) => query.where("uid", ">", page.afterUid ?? 0))
    .orderBy("uid")
    .limit(page.limit)
    .execute();
}

function selectEntries(tx: Tx, tenantId: string, lorebookId: string) {
  return tx
    .selectFrom("lorebook_entries")
    .select(["id", "lorebook_id as lorebookId", "uid", "data", "created_at as createdAt"])
    .where("tenant_id", "=", tenantId)
    .where("lorebook_id", "=", lorebookId);
}
