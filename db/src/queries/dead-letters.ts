import { sql } from "kysely";
import type { Db, Tx } from "../transaction.ts";

export type DeadLetterState = "open" | "retried" | "discarded";

export interface DeadLetterFacts {
  readonly state: DeadLetterState;
  readonly note: string | null;
  readonly errorFingerprint: string | null;
}

/** What stands on the generations among `ids` that are or were dead letters. */
export async function findDeadLetters(
  tx: Tx,
  tenantId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, DeadLetterFacts>> {
  if (ids.length === 0) return new Map();
  return byId(await selectDeadLetters(tx, ids).where("tenant_id", "=", tenantId).execute());
}

/** Says that a failure was run again. Call under its chat's lock. */
export async function markRetried(tx: Tx, tenantId: string, id: string): Promise<void> {
  await sql`
    update generations set dead_letter = 'retried'
    where tenant_id = ${tenantId} and id = ${id} and dead_letter is not null
  `.execute(tx);
}

/** Drops open dead letters, saying why; returns the ids of those that were open. */
export async function discardDeadLetters(
  tx: Tx,
  tenantId: string,
  ids: readonly string[],
  note: string,
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    update generations set dead_letter = 'discarded', dead_letter_note = ${note}
    where tenant_id = ${tenantId} and id = any(${[...ids]}::uuid[]) and dead_letter = 'open'
    returning id
  `.execute(tx);
  return rows.map((row) => row.id);
}

/** As `findDeadLetters`, of any tenant; as admin. */
export async function findDeadLettersEverywhere(
  admin: Db,
  ids: readonly string[],
): Promise<ReadonlyMap<string, DeadLetterFacts>> {
  if (ids.length === 0) return new Map();
  return byId(await selectDeadLetters(admin, ids).execute());
}

function selectDeadLetters(db: Db | Tx, ids: readonly string[]) {
  return db
    .selectFrom("generations")
    .select(["id", "dead_letter as state", "dead_letter_note as note", "error_fingerprint as errorFingerprint"])
    .where("id", "in", [...ids]);
}

type Row = Omit<DeadLetterFacts, "state"> & { readonly id: string; readonly state: DeadLetterState | null };

function byId(rows: readonly Row[]): ReadonlyMap<string, DeadLetterFacts> {
  return new Map(rows.flatMap(({ id, state, ...facts }) => (state === null ? [] : [[id, { ...facts, state }]])));
}
