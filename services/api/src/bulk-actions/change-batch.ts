import { discardDeadLetters, recordBulkProgress, requestCancels, type HeldBulkAction } from "@shiftwork/db";
import { forgetJobs } from "../generations/forget-jobs.ts";
import { withHeld, type BatchOutcome, type BulkRunner } from "./bulk-runner.ts";

/** Cancels a batch; one statement decides about all of it. */
export async function cancelBatch(
  runner: BulkRunner,
  held: HeldBulkAction,
  ids: readonly string[],
): Promise<BatchOutcome> {
  const cancelled = await withHeld(runner.db, held, async (tx, { note }) => {
    const { ended, signalled } = await requestCancels(tx, held.tenantId, ids, note);
    await recordBulkProgress(tx, held, changed(ids, ended.length + signalled));
    return ended;
  });
  if (cancelled === null) return "ended";
  await forgetJobs(runner, cancelled);
  return "more";
}

/** Drops a batch of dead letters. */
export async function discardBatch(
  { db }: BulkRunner,
  held: HeldBulkAction,
  ids: readonly string[],
): Promise<BatchOutcome> {
  const discarded = await withHeld(db, held, async (tx, { note }) => {
    const dropped = await discardDeadLetters(tx, held.tenantId, ids, note ?? "");
    await recordBulkProgress(tx, held, changed(ids, dropped.length));
    return dropped;
  });
  return discarded === null ? "ended" : "more";
}

function changed(ids: readonly string[], succeeded: number) {
  return { succeeded, skipped: ids.length - succeeded, failures: {}, lastGenerationId: ids.at(-1) ?? "" };
}
