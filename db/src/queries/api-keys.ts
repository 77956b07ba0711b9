import { sql } from "kysely";
import type { Db, Tx } from "../transaction.ts";

export interface ApiKey {
  readonly tenantId: string;
  readonly id: string;
  readonly secretHash: Uint8Array;
  readonly scopes: readonly string[];
  /** Set = this key sees one end user's chats only. */
  readonly ownerId: string | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** The only query made before the tenant is known: the policy shows the row whose `key_id` was named, and no other. */
export async function findApiKey(db: Db, keyId: string): Promise<ApiKey | null> {
  return db.transaction().execute(async (tx) => {
    await sql`select set_config('app.key_id', ${keyId}, true)`.execute(tx);
    const row = await tx
      .selectFrom("api_keys")
      .select([
        "tenant_id as tenantId",
        "id",
        "secret_hash as secretHash",
        "scopes",
        "owner_id as ownerId",
        "expires_at as expiresAt",
        "revoked_at as revokedAt",
      ])
      .where("key_id", "=", keyId)
      .executeTakeFirst();
    return row ?? null;
  });
}

export interface NewApiKey {
  readonly id: string;
  readonly keyId: string;
  readonly secretHash: Uint8Array;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly ownerId?: string;
  readonly expiresAt?: Date;
}

export async function insertApiKey(tx: Tx, tenantId: string, key: NewApiKey): Promise<void> {
  await tx
    .insertInto("api_keys")
    .values({
      tenant_id: tenantId,
      id: key.id,
      key_id: key.keyId,
      secret_hash: key.secretHash,
      name: key.name,
      scopes: [...key.scopes],
      owner_id: key.ownerId ?? null,
      expires_at: key.expiresAt ?? null,
      revoked_at: null,
    })
    .execute();
}
