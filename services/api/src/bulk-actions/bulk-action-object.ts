import { BulkTarget, encodeId, type BulkActionObject } from "@shiftwork/contracts";
import { findBulkAction, type BulkActionRow, type Tx } from "@shiftwork/db";
import type { Caller } from "../auth/caller.ts";
import { notFound } from "../errors.ts";

/** The bulk action, unless it is missing, another tenant's, or another owner's. */
export async function readBulkActionObject(tx: Tx, caller: Caller, id: string): Promise<BulkActionObject> {
  const row = await findBulkAction(tx, caller.tenantId, id, caller.ownerId);
  if (!row) throw notFound("bulkAction");
  return bulkActionObject(row);
}

export function bulkActionObject(row: BulkActionRow): BulkActionObject {
  const { filter, ids } = BulkTarget.parse(row.target);
  return {
    id: encodeId("bulkAction", row.id),
    object: "bulk_action",
    action: row.action,
    filter: filter ?? null,
    ids: ids ?? null,
    note: row.note,
    status: row.status,
    progress: {
      total: { count: row.total, capped: row.totalCapped },
      done: row.done,
      succeeded: row.succeeded,
      skipped: row.skipped,
      failed: row.failed,
    },
    skips: row.skips,
    failures: row.failures,
    createdAt: row.createdAt.toISOString(),
    startedAt: row.startedAt?.toISOString() ?? null,
    finishedAt: row.finishedAt?.toISOString() ?? null,
  };
}
