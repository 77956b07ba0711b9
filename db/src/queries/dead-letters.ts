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

/** Says that a failure, or a retry of one that came to nothing, was run again. Call under its chat's lock. */
export async function markRetried(tx: Tx, tenantId: string, id: string): Promise<void> {
  await sql`
    ${letterOf(tenantId, id)}
    update generations set dead_letter = 'retried'
    where tenant_id = ${tenantId} and id = (select id from line where dead_letter is not null)
  `.execute(tx);
}

/**
 * A cancelled retry has answered nothing: the failure it was to make good is a dead letter as before, discarded if it was
 * that, unless another of its retries came to an end of its own. Call when the cancelled one has ended.
 */
export async function reopenRetried(tx: Tx, tenantId: string, cancelledId: string): Promise<void> {
  await sql`
    ${letterOf(tenantId, cancelledId)},
    later as (
      select next.id, next.chat_id, next.status from line
      join generations as next
        on next.tenant_id = ${tenantId} and next.chat_id = line.chat_id and next.retry_of = line.id
      where line.dead_letter = 'retried'
      union all
      select next.id, next.chat_id, next.status from later
      join generations as next on next.tenant_id = ${tenantId} and next.chat_id = later.chat_id and next.retry_of = later.id
    )
    update generations set dead_letter = case when dead_letter_note is null then 'open' else 'discarded' end
    where tenant_id = ${tenantId} and id = (select id from line where dead_letter = 'retried')
      and not exists (select from later where status <> 'cancelled')
  `.execute(tx);
}

/** The generation and those it is a retry of, up to the first that is or was a dead letter. */
function letterOf(tenantId: string, id: string) {
  return sql`
    with recursive line as (
      select id, chat_id, retry_of, dead_letter from generations where tenant_id = ${tenantId} and id = ${id}
      union all
      select earlier.id, earlier.chat_id, earlier.retry_of, earlier.dead_letter from line
      join generations as earlier on earlier.tenant_id = ${tenantId} and earlier.id = line.retry_of
      where line.dead_letter is null
    )
  `;
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
