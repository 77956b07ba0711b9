import {
  deleteExpiredEvents,
  deleteExpiredIdempotencyKeys,
  findRecentlyActiveTenants,
  withTenant,
  type Db,
} from "@shiftwork/db";
import { eachInTurn } from "./each-in-turn.ts";

/** Deletes live events past their retention and idempotency keys past theirs, tenant by tenant: both are content. */
export async function expire(db: Db, eventRetentionMs: number): Promise<void> {
  await eachInTurn(await findRecentlyActiveTenants(db), (tenantId) =>
    withTenant(db, tenantId, async (tx) => {
      await deleteExpiredEvents(tx, tenantId, eventRetentionMs);
      await deleteExpiredIdempotencyKeys(tx, tenantId);
    }),
  );
}
