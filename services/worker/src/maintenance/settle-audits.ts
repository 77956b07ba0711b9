import {
  findAllTenants,
  findOrphanedAudits,
  findRecentlyActiveTenants,
  settleOrphanedAudit,
  withTenant,
  type Db,
} from "@shiftwork/db";
import { eachInTurn } from "./each-in-turn.ts";

/** Audits settled per tenant and pass; the next pass takes the rest. */
const BATCH = 100;

/**
 * Settles prepared audits that no run will finish, where something ended lately. A run ends with its audit in one
 * transaction, so there is none unless rows were changed from outside: a restore, a repair by hand.
 */
export async function settleAudits(db: Db): Promise<void> {
  await settleOf(db, await findRecentlyActiveTenants(db));
}

/** As `settleAudits`, of every tenant. */
export async function settleAuditsEverywhere(db: Db): Promise<void> {
  await settleOf(db, await findAllTenants(db));
}

/** Tenant by tenant: an audit is content. */
async function settleOf(db: Db, tenantIds: readonly string[]): Promise<void> {
  await eachInTurn(tenantIds, async (tenantId) => {
    const orphans = await withTenant(db, tenantId, (tx) => findOrphanedAudits(tx, tenantId, BATCH));
    await eachInTurn(orphans, (orphan) => withTenant(db, tenantId, (tx) => settleOrphanedAudit(tx, tenantId, orphan)));
  });
}
