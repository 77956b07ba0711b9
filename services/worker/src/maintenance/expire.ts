import {
  deleteExpiredEvents,
  deleteExpiredIdempotencyKeys,
  deleteUnusedVectors,
  findAllTenants,
  findRecentlyActiveTenants,
  withTenant,
  type Db,
} from "@shiftwork/db";
import { eachInTurn } from "./each-in-turn.ts";

/** A text no turn has used for so long may have been deleted: its vector goes, and is made anew if need be. */
const VECTORS_UNUSED_DAYS = 30;

/** Deletes live events and idempotency keys past their retention, and vectors nobody uses, where something happened lately. */
export async function expire(db: Db, eventRetentionMs: number): Promise<void> {
  await expireOf(db, await findRecentlyActiveTenants(db), eventRetentionMs);
}

/** As `expire`, of every tenant: a tenant that has fallen silent leaves text behind too. */
export async function expireEverywhere(db: Db, eventRetentionMs: number): Promise<void> {
  await expireOf(db, await findAllTenants(db), eventRetentionMs);
}

/** Tenant by tenant: all of it is content. */
async function expireOf(db: Db, tenantIds: readonly string[], eventRetentionMs: number): Promise<void> {
  await eachInTurn(tenantIds, (tenantId) =>
    withTenant(db, tenantId, async (tx) => {
      await deleteExpiredEvents(tx, tenantId, eventRetentionMs);
      await deleteExpiredIdempotencyKeys(tx, tenantId);
      await deleteUnusedVectors(tx, tenantId, VECTORS_UNUSED_DAYS);
    }),
  );
}
