import type { Db } from "../transaction.ts";
import type { NewApiKey } from "./api-keys.ts";

/** A key of those who look after the installation; as admin. */
export async function insertAdminKey(admin: Db, key: Omit<NewApiKey, "ownerId">): Promise<void> {
  await admin
    .insertInto("admin_keys")
    .values({
      id: key.id,
      key_id: key.keyId,
      secret_hash: key.secretHash,
      name: key.name,
      scopes: [...key.scopes],
      expires_at: key.expiresAt ?? null,
      revoked_at: null,
    })
    .execute();
}
