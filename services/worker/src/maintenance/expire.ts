import {
  deleteExpiredEvents,
  deleteExpiredIdempotencyKeys,
  findRecentlyActiveTenants,
  withTenant,
  type Db,
} from "@shiftwork/db";

/** Deletes live events past their retention and idempotency keys past theirs, tenant by tenant: both are content. */
export async function expire(db: Db, eventRetentionMs: number): Promise<void> {
  for (const tenantId of await findRecentlyActiveTenants(db)) {
    await withTenant(db, tenantId, async (tx) => {
      await deleteExpiredEvents(tx, tenantId, eventRetentionMs);
      await deleteExpiredIdempotencyKeys(tx, tenantId);
    });
  }
}
