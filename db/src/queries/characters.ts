import type { Character } from "@shiftwork/pipeline";
import type { Tx } from "../transaction.ts";

export interface CharacterRow {
  readonly id: string;
  readonly data: Omit<Character, "id">;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface NewCharacter {
  readonly id: string;
  readonly data: Omit<Character, "id">;
  /** The imported card as it stood; null for a character made here. */
  readonly source: object | null;
}

/** A page of a list that is sorted by id, newest first (ids are UUIDv7); `afterId` is the last row of the page before. */
export interface IdPage {
  readonly limit: number;
  readonly afterId: string | null;
}

const COLUMNS = ["id", "data", "created_at as createdAt", "updated_at as updatedAt"] as const;

export async function insertCharacter(tx: Tx, tenantId: string, character: NewCharacter): Promise<void> {
  await tx
    .insertInto("characters")
    .values({
      tenant_id: tenantId,
      id: character.id,
      name: character.data.name,
      data: character.data,
      source: character.source,
    })
    .execute();
}

export async function findCharacter(tx: Tx, tenantId: string, id: string): Promise<CharacterRow | null> {
  const row = await tx
    .selectFrom("characters")
    .select(COLUMNS)
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row ?? null;
}

export async function listCharacters(tx: Tx, tenantId: string, page: IdPage): Promise<readonly CharacterRow[]> {
  return tx
    .selectFrom("characters")
    .select(COLUMNS)
    .where("tenant_id", "=", tenantId)
    .$if(page.afterId !== null, (query) => query.where("id", "<", page.afterId ?? ""))
    .orderBy("id", "desc")
    .limit(page.limit)
    .execute();
}
