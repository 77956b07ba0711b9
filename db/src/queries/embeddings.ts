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
  if (keys.length === 0) return [];
  const rows = await tx
    .selectFrom("embeddings")
    .select(["key", "vector"])
    .where("tenant_id", "=", tenantId)
    .where("key", "in", [...keys])
    .execute();
  return rows;
}

/** Which of the keys have no vector. */
export async function findKeysWithoutVector(
  tx: Tx,
  tenantId: string,
  keys: readonly Uint8Array[],
): Promise<readonly Uint8Array[]> {
  if (keys.length === 0) return [];
  const rows = await tx
    .selectFrom("embeddings")
    .select("key")
    .where("tenant_id", "=", tenantId)
    .where("key", "in", [...keys])
    .execute();
  const there = new Set(rows.map(({ key }) => hex(key)));
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
  if (keys.length === 0) return;
  await tx
    .updateTable("embeddings")
    .set({ used_on: sql<string>`current_date` })
    .where("tenant_id", "=", tenantId)
    .where("key", "in", [...keys])
    .where("used_on", "<", sql<string>`current_date - 7`)
    .execute();
}

/** Deletes vectors that nothing has used for so many days. */
export async function deleteUnusedVectors(tx: Tx, tenantId: string, unusedDays: number): Promise<void> {
  await tx
    .deleteFrom("embeddings")
    .where("tenant_id", "=", tenantId)
    .where("used_on", "<", sql<string>`current_date - ${unusedDays}::integer`)
    .execute();
}

function hex(key: Uint8Array): string {
  return Buffer.from(key).toString("hex");
}
