import { deleteFinishedBulkActions, findAllTenants, forgetBulkTargetsGone, withTenant, type Db } from "@shiftwork/db";
import { eachInTurn } from "./each-in-turn.ts";

/** Deletes what bulk actions have ended more than `keptMs` ago, and takes chats that are gone out of the others. */
export async function clearBulkActions(db: Db, keptMs: number): Promise<void> {
  await eachInTurn(await findAllTenants(db), (tenantId) =>
    withTenant(db, tenantId, async (tx) => {
      await deleteFinishedBulkActions(tx, tenantId, keptMs);
      await forgetBulkTargetsGone(tx, tenantId);
    }),
  );
}
