import { BulkTarget, type SkipReason } from "@shiftwork/contracts";
import {
  discardDeadLetters,
  findBehind,
  findGenerationIds,
  lastInLineFirst,
  recordBulkProgress,
  requestCancels,
  type BulkActionRow,
  type HeldBulkAction,
  type Tx,
} from "@shiftwork/db";
import { forgetJobs } from "../generations/forget-jobs.ts";
import { withHeld, type BatchOutcome, type BulkRunner } from "./bulk-runner.ts";
import { targetedBefore } from "./bulk-target.ts";

/**
 * Cancels a batch and what is to be cancelled behind it. When that is more than a batch, its lines are cut from their ends,
 * and the next one begins where this one did: what is left of a line has nobody of it behind, and none of it has moved up.
 */
export async function cancelBatch(
  runner: BulkRunner,
  held: HeldBulkAction,
  ids: readonly string[],
): Promise<BatchOutcome> {
  const cancelled = await withHeld(runner.db, held, async (tx, action) => {
    const all = await withTargetedBehind(tx, held, action, ids);
    const most = Math.max(runner.batchSize, ids.length);
    const some = all.slice(0, most);
    const { ended, signalled } = await requestCancels(tx, held.tenantId, some, action.note);
    const succeeded = ended.length + signalled;
    const lastGenerationId = all.length > most ? action.lastGenerationId : (ids.at(-1) ?? null);
    await recordBulkProgress(tx, held, { ...changed(succeeded, some.length - succeeded), lastGenerationId });
    return ended;
  });
  if (cancelled === null) return "ended";
  await forgetJobs(runner, cancelled);
  return "more";
}

/** With what must not move up and begin while it waits for the next batch; the ends of the lines first. */
async function withTargetedBehind(
  tx: Tx,
  { tenantId }: HeldBulkAction,
  action: BulkActionRow,
  ids: readonly string[],
): Promise<readonly string[]> {
  const target = BulkTarget.parse(action.target);
  // What is named is one batch.
  if (target.ids !== undefined) return ids;
  const behind = await findBehind(tx, tenantId, ids);
  if (behind.length === 0) return ids;
  const filter = { ...targetedBefore(action, target), ids: behind.map(({ id }) => id) };
  const targeted = new Set(await findGenerationIds(tx, tenantId, filter, { limit: behind.length, afterId: null }));
  for (const id of ids) targeted.add(id);
  const waiting = new Map([...ids.map((id) => ({ id, blockedBy: null })), ...behind].map((row) => [row.id, row]));
  return lastInLineFirst([...waiting.values()])
    .map(({ id }) => id)
    .filter((id) => targeted.has(id));
}

/** Drops a batch of dead letters. */
export async function discardBatch(
  { db }: BulkRunner,
  held: HeldBulkAction,
  ids: readonly string[],
): Promise<BatchOutcome> {
  const discarded = await withHeld(db, held, async (tx, { note }) => {
    const dropped = await discardDeadLetters(tx, held.tenantId, ids, note ?? "");
    const lastGenerationId = ids.at(-1) ?? null;
    const change = changed(dropped.length, ids.length - dropped.length);
    await recordBulkProgress(tx, held, { ...change, lastGenerationId });
    return dropped;
  });
  return discarded === null ? "ended" : "more";
}

function changed(succeeded: number, skipped: number) {
  const skips: { readonly [reason in SkipReason]?: number } = skipped === 0 ? {} : { not_in_state: skipped };
  return { succeeded, skips, failures: {} };
}
