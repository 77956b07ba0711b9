import { deleteOldContent, findAllTenants, readTenantSettings, withTenant, type Db } from "@shiftwork/db";
import { eachInTurn } from "./each-in-turn.ts";

const DAY_MS = 86_400_000;

/** Deletes the texts of ended generations that are older than their tenant wants to keep them; without a wish, none. */
export async function clearContent(db: Db): Promise<void> {
  await eachInTurn(await findAllTenants(db), (tenantId) =>
    withTenant(db, tenantId, async (tx) => {
      const { contentRetentionDays } = await readTenantSettings(tx, tenantId);
      if (contentRetentionDays !== undefined) await deleteOldContent(tx, tenantId, contentRetentionDays * DAY_MS);
    }),
  );
}
