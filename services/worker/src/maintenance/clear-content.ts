import { deleteOldContent, findAllTenants, readTenantSettings, withTenant, type Db, type Tx } from "@shiftwork/db";
import { eachInTurn } from "./each-in-turn.ts";

const DAY_MS = 86_400_000;
/** Generations of one transaction: a tenant that begins to want it may have years of them. */
const AT_ONCE = 1_000;

/** Deletes the texts of ended generations that are older than their tenant wants to keep them; without a wish, none. */
export async function clearContent(db: Db, atOnce = AT_ONCE): Promise<void> {
  await eachInTurn(await findAllTenants(db), async (tenantId) => {
    let hasMore = true;
    while (hasMore) hasMore = await withTenant(db, tenantId, (tx) => clearSome(tx, tenantId, atOnce));
  });
}

async function clearSome(tx: Tx, tenantId: string, atOnce: number): Promise<boolean> {
  const { contentRetentionDays } = await readTenantSettings(tx, tenantId);
  if (contentRetentionDays === undefined) return false;
  return deleteOldContent(tx, tenantId, contentRetentionDays * DAY_MS, atOnce);
}
