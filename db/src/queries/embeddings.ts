import { sql } from "kysely";
import type { Tx } from "../transaction.ts";

/** A vector under the key of its text (32 bytes); float32, little-endian. */
export interface StoredVector {
  readonly key: Uint8Array;
  readonly vector: Uint8Array;
}

/** The vectors that are there, in no order. */
export async function findVectors(
  tx: Tx,
  tenantId: string,
  keys: readonly Uint8Array[],
): Promise<readonly StoredVector[]> {
  const { rows } = await sql<StoredVector>`
    select key, vector from embeddings where tenant_id = ${tenantId} and key = any(${decoded(keys)})
  `.execute(tx);
  return rows;
}

/** Which of the keys have no vector. */
export async function findKeysWithoutVector(
  tx: Tx,
  tenantId: string,
  keys: readonly Uint8Array[],
): Promise<readonly Uint8Array[]> {
  const { rows } = await sql<{ key: Uint8Array }>`
    select key from embeddings where tenant_id = ${tenantId} and key = any(${decoded(keys)})
  `.execute(tx);
  const there = new Set(rows.map(({ key }) => hex(key)));
  return keys.filter((key) => !there.has(hex(key)));
}

/** What is there already stays: the same key is the same vector. */
export async function insertVectors(tx: Tx, tenantId: string, vectors: readonly StoredVector[]): Promise<void> {
  if (vectors.length === 0) return;
  const [keys, values] = [vectors.map(({ key }) => hex(key)), vectors.map(({ vector }) => hex(vector))];
  // In one order everywhere, so that two who store the same ones wait for each other and not in a circle.
  await sql`
    insert into embeddings (tenant_id, key, vector)
    select ${tenantId}::uuid, decode(key, 'hex'), decode(vector, 'hex')
    from unnest(${keys}::text[], ${values}::text[]) as computed (key, vector)
    order by key collate "C"
    on conflict do nothing
  `.execute(tx);
}

/** Says that the vectors are in use; writes a row once a week at most. */
export async function touchVectors(tx: Tx, tenantId: string, keys: readonly Uint8Array[]): Promise<void> {
  if (keys.length === 0) return;
  await sql`
    update embeddings set used_on = current_date
    where tenant_id = ${tenantId} and key = any(${decoded(keys)}) and used_on < current_date - 7
  `.execute(tx);
}

/** Deletes vectors that nothing has used for so many days. */
export async function deleteUnusedVectors(tx: Tx, tenantId: string, unusedDays: number): Promise<void> {
  await tx
    .deleteFrom("embeddings")
    .where("tenant_id", "=", tenantId)
    .where("used_on", "<", sql<string>`current_date - ${unusedDays}::integer`)
    .execute();
}

/** One parameter, however many there are: a statement of its own for every count would stay prepared for ever. */
function decoded(keys: readonly Uint8Array[]) {
  return sql`array(select decode(key, 'hex') from unnest(${keys.map(hex)}::text[]) as named (key))`;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
