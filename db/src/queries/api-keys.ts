import { sql } from "kysely";
import type { Db, Tx } from "../transaction.ts";

export interface ApiKey {
  /** `null` = an admin's key, which belongs to no tenant. */
  readonly tenantId: string | null;
  readonly id: string;
  readonly secretHash: Uint8Array;
  readonly scopes: readonly string[];
  /** Set = this key sees one end user's chats only. */
  readonly ownerId: string | null;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** Asked before the tenant is known: the policies show the row whose `key_id` was named, and no other. */
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
    return row ?? findAdminKey(tx, keyId);
  });
}

async function findAdminKey(tx: Tx, keyId: string): Promise<ApiKey | null> {
  const row = await tx
    .selectFrom("admin_keys")
    .select(["id", "secret_hash as secretHash", "scopes", "expires_at as expiresAt", "revoked_at as revokedAt"])
    .where("key_id", "=", keyId)
    .executeTakeFirst();
  return row ? { ...row, tenantId: null, ownerId: null } : null;
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
