import { sql } from "kysely";
import type { Tx } from "../transaction.ts";

/** Which request a key stands for. `path` holds the ids of the route. */
export interface IdempotentRequest {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  /** SHA-256 over what makes two requests the same. */
  readonly fingerprint: Uint8Array;
}

export interface StoredAnswer {
  readonly fingerprint: Uint8Array;
  readonly status: number;
  readonly body: object;
  readonly generationId: string | null;
}

export type IdempotencyClaim =
  /** The request is new: answer it, then `storeAnswer` in the same transaction. */
  | { readonly outcome: "new" }
  | { readonly outcome: "known"; readonly answer: StoredAnswer }
  /** The first request's transaction is still open; this transaction is unusable. */
  | { readonly outcome: "in_progress" };

/** SQLSTATE of a lock that was waited for too long. */
const LOCK_NOT_AVAILABLE = "55P03";

/**
 * Claims a key for 24 h. A concurrent request with the same key waits here for the first one's transaction, at most
 * `waitMs`, and then finds its answer; after a rollback it takes the first one's place.
 */
export async function claimIdempotencyKey(
  tx: Tx,
  tenantId: string,
  request: IdempotentRequest,
  waitMs: number,
): Promise<IdempotencyClaim> {
  await sql`select set_config('lock_timeout', ${`${waitMs}ms`}, true)`.execute(tx);
  const claimed = await insertClaim(tx, tenantId, request).catch((error: unknown) => {
    if (isLockTimeout(error)) return null;
    throw error;
  });
  if (claimed === null) return { outcome: "in_progress" };
  await sql`select set_config('lock_timeout', '0', true)`.execute(tx);
  if (claimed) return { outcome: "new" };
  const answer = await tx
    .selectFrom("idempotency_keys")
    .select(["fingerprint", "status", "body", "generation_id as generationId"])
    .where("tenant_id", "=", tenantId)
    .where("method", "=", request.method)
    .where("path", "=", request.path)
    .where("key", "=", request.key)
    .executeTakeFirstOrThrow();
  return { outcome: "known", answer };
}

async function insertClaim(tx: Tx, tenantId: string, request: IdempotentRequest): Promise<boolean> {
  const { rows } = await sql`
    insert into idempotency_keys (tenant_id, method, path, key, fingerprint, status, body, expires_at)
    values (${tenantId}, ${request.method}, ${request.path}, ${request.key}, ${request.fingerprint}, 0, '{}',
      now() + interval '24 hours')
    on conflict (tenant_id, method, path, key) do update set
      fingerprint = excluded.fingerprint, generation_id = null, status = 0, body = '{}',
      created_at = now(), expires_at = excluded.expires_at
    where idempotency_keys.expires_at < now()
    returning key
  `.execute(tx);
  return rows.length > 0;
}

function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === LOCK_NOT_AVAILABLE;
}

/** Keeps the answer of a claimed request, for its repeats. */
export async function storeAnswer(
  tx: Tx,
  tenantId: string,
  request: IdempotentRequest,
  answer: Omit<StoredAnswer, "fingerprint">,
): Promise<void> {
  await tx
    .updateTable("idempotency_keys")
    .set({ status: answer.status, body: answer.body, generation_id: answer.generationId })
    .where("tenant_id", "=", tenantId)
    .where("method", "=", request.method)
    .where("path", "=", request.path)
    .where("key", "=", request.key)
    .execute();
}

/** Forgets the tenant's keys past their time; the answers they hold go with them. */
export async function deleteExpiredIdempotencyKeys(tx: Tx, tenantId: string): Promise<void> {
  await tx
    .deleteFrom("idempotency_keys")
    .where("tenant_id", "=", tenantId)
    .where("expires_at", "<", sql<Date>`now()`)
    .execute();
}
