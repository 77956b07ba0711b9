import {
  deleteExpiredEvents,
  deleteExpiredIdempotencyKeys,
  findAllTenants,
  findRecentlyActiveTenants,
  withTenant,
  type Db,
} from "@shiftwork/db";
import { eachInTurn } from "./each-in-turn.ts";

/** Deletes live events past their retention and idempotency keys past theirs where something happened lately. */
export async function expire(db: Db, eventRetentionMs: number): Promise<void> {
  await expireOf(db, await findRecentlyActiveTenants(db), eventRetentionMs);
}

/** As `expire`, of every tenant: a tenant that has fallen silent leaves text behind too. */
export async function expireEverywhere(db: Db, eventRetentionMs: number): Promise<void> {
  await expireOf(db, await findAllTenants(db), eventRetentionMs);
}

/** Tenant by tenant: both are content. */
async function expireOf(db: Db, tenantIds: readonly string[], eventRetentionMs: number): Promise<void> {
  await eachInTurn(tenantIds, (tenantId) =>
    withTenant(db, tenantId, async (tx) => {
      await deleteExpiredEvents(tx, tenantId, eventRetentionMs);
      await deleteExpiredIdempotencyKeys(tx, tenantId);
    }),
  );
}
