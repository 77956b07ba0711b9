import { sql } from "kysely";
import type { Tx } from "../transaction.ts";

/** A vector under the key of its text (32 bytes); float32, little-endian. */
export interface StoredVector {
  readonly key: Uint8Array;
  readonly vector: Uint8Array;
}

/** Keys named in one statement: it takes 65,534 parameters, and a tenant may have more memories than that. */
const KEYS_AT_ONCE = 10_000;

/** The vectors that are there, in no order. */
export async function findVectors(
  tx: Tx,
  tenantId: string,
  keys: readonly Uint8Array[],
): Promise<readonly StoredVector[]> {
  const found: StoredVector[] = [];
  for (const some of slices(keys)) {
    const query = tx.selectFrom("embeddings").select(["key", "vector"]).where("tenant_id", "=", tenantId);
    found.push(...(await query.where("key", "in", some).execute()));
  }
  return found;
}

/** Which of the keys have no vector. */
export async function findKeysWithoutVector(
  tx: Tx,
  tenantId: string,
  keys: readonly Uint8Array[],
): Promise<readonly Uint8Array[]> {
  const there = new Set<string>();
  for (const some of slices(keys)) {
    const query = tx.selectFrom("embeddings").select("key").where("tenant_id", "=", tenantId);
    for (const { key } of await query.where("key", "in", some).execute()) there.add(hex(key));
  }
  return keys.filter((key) => !there.has(hex(key)));
}

/** What is there already stays: the same key is the same vector. */
export async function insertVectors(tx: Tx, tenantId: string, vectors: readonly StoredVector[]): Promise<void> {
  if (vectors.length === 0) return;
  // In one order everywhere, so that two who store the same ones wait for each other and not in a circle.
  const sorted = vectors.toSorted((a, b) => Buffer.compare(a.key, b.key));
  await tx
    .insertInto("embeddings")
    .values(sorted.map(({ key, vector }) => ({ tenant_id: tenantId, key, vector })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Says that the vectors are in use; writes a row once a week at most. */
export async function touchVectors(tx: Tx, tenantId: string, keys: readonly Uint8Array[]): Promise<void> {
  for (const some of slices(keys)) {
    await tx
      .updateTable("embeddings")
      .set({ used_on: sql<string>`current_date` })
      .where("tenant_id", "=", tenantId)
      .where("key", "in", some)
      .where("used_on", "<", sql<string>`current_date - 7`)
      .execute();
  }
}

/** Deletes vectors that nothing has used for so many days. */
export async function deleteUnusedVectors(tx: Tx, tenantId: string, unusedDays: number): Promise<void> {
  await tx
    .deleteFrom("embeddings")
    .where("tenant_id", "=", tenantId)
    .where("used_on", "<", sql<string>`current_date - ${unusedDays}::integer`)
    .execute();
}

function* slices(keys: readonly Uint8Array[]): Generator<Uint8Array[]> {
  for (let from = 0; from < keys.length; from += KEYS_AT_ONCE) yield keys.slice(from, from + KEYS_AT_ONCE);
}

function hex(key: Uint8Array): string {
  return Buffer.from(key).toString("hex");
}
