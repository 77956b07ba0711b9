import { BulkTarget, type SkipReason } from "@shiftwork/contracts";
import {
  discardDeadLetters,
  findBehind,
  findGenerationIds,
  recordBulkProgress,
  requestCancels,
  type BulkActionRow,
  type HeldBulkAction,
  type Tx,
} from "@shiftwork/db";
import { forgetJobs } from "../generations/forget-jobs.ts";
import { withHeld, type BatchOutcome, type BulkRunner } from "./bulk-runner.ts";
import { targetedBefore } from "./bulk-target.ts";

/** Cancels a batch and what is to be cancelled behind it; one statement decides about all of it. */
export async function cancelBatch(
  runner: BulkRunner,
  held: HeldBulkAction,
  ids: readonly string[],
): Promise<BatchOutcome> {
  const cancelled = await withHeld(runner.db, held, async (tx, action) => {
    const all = [...new Set([...ids, ...(await targetedBehind(tx, held, action, ids))])];
    const { ended, signalled } = await requestCancels(tx, held.tenantId, all, action.note);
    const succeeded = ended.length + signalled;
    await recordBulkProgress(tx, held, changed(ids, succeeded, all.length - succeeded));
    return ended;
  });
  if (cancelled === null) return "ended";
  await forgetJobs(runner, cancelled);
  return "more";
}

/** What a batch leaves for the next one must not move up and begin in between. */
async function targetedBehind(
  tx: Tx,
  { tenantId }: HeldBulkAction,
  action: BulkActionRow,
  ids: readonly string[],
): Promise<readonly string[]> {
  const behind = await findBehind(tx, tenantId, ids);
  const target = BulkTarget.parse(action.target);
  if (behind.length === 0 || target.ids !== undefined) return [];
  const filter = { ...targetedBefore(action, target), ids: behind };
  return findGenerationIds(tx, tenantId, filter, { limit: behind.length, afterId: null });
}

/** Drops a batch of dead letters. */
export async function discardBatch(
  { db }: BulkRunner,
  held: HeldBulkAction,
  ids: readonly string[],
): Promise<BatchOutcome> {
  const discarded = await withHeld(db, held, async (tx, { note }) => {
    const dropped = await discardDeadLetters(tx, held.tenantId, ids, note ?? "");
    await recordBulkProgress(tx, held, changed(ids, dropped.length, ids.length - dropped.length));
    return dropped;
  });
  return discarded === null ? "ended" : "more";
}

function changed(ids: readonly string[], succeeded: number, skipped: number) {
  const skips: { readonly [reason in SkipReason]?: number } = skipped === 0 ? {} : { not_in_state: skipped };
  return { succeeded, skips, failures: {}, lastGenerationId: ids.at(-1) ?? "" };
}
