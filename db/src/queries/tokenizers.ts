import type { Tx } from "../transaction.ts";

/** A tokenizer that a tenant brought, without its file. */
export interface TokenizerRow {
  readonly id: string;
  readonly name: string;
  /** Patterns of the models it counts for. */
  readonly models: readonly string[];
  readonly sizeBytes: number;
  readonly createdAt: Date;
}

export interface NewTokenizer extends Omit<TokenizerRow, "createdAt"> {
  /** The `tokenizer.json`, deflated. */
  readonly file: Uint8Array;
}

export async function insertTokenizer(tx: Tx, tenantId: string, tokenizer: NewTokenizer): Promise<void> {
  const { id, name, models, sizeBytes, file } = tokenizer;
  await tx
    .insertInto("tokenizers")
    .values({ tenant_id: tenantId, id, name, models: [...models], size_bytes: sizeBytes, file })
    .execute();
}

/** Newest first: of two that count for a model, the newer does. */
export async function listTokenizers(tx: Tx, tenantId: string): Promise<readonly TokenizerRow[]> {
  return selectTokenizers(tx, tenantId).orderBy("id", "desc").execute();
}

export async function findTokenizer(tx: Tx, tenantId: string, id: string): Promise<TokenizerRow | null> {
  return (await selectTokenizers(tx, tenantId).where("id", "=", id).executeTakeFirst()) ?? null;
}

/** What a tokenizer is compiled from; `null` = there is no such tokenizer any more. */
export async function findTokenizerFile(
  tx: Tx,
  tenantId: string,
  id: string,
): Promise<Pick<NewTokenizer, "id" | "models" | "file"> | null> {
  const row = await tx
    .selectFrom("tokenizers")
    .select(["id", "models", "file"])
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row ?? null;
}

/** False = there was none. */
export async function deleteTokenizer(tx: Tx, tenantId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom("tokenizers")
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

function selectTokenizers(tx: Tx, tenantId: string) {
  return tx
    .selectFrom("tokenizers")
    .select(["id", "name", "models", "size_bytes as sizeBytes", "created_at as createdAt"])
    .where("tenant_id", "=", tenantId);
}
