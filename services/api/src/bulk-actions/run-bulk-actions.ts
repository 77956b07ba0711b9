import { BulkTarget, MOST_BULK_IDS } from "@shiftwork/contracts";
import {
  completeBulkAction,
  findGenerationIds,
  putDownBulkAction,
  takeUpBulkAction,
  type BulkActionRow,
  type HeldBulkAction,
} from "@shiftwork/db";
import { LEASE_MS, withHeld, type BatchOutcome, type BulkRunner } from "./bulk-runner.ts";
import { targetedBefore } from "./bulk-target.ts";
import { cancelBatch, discardBatch } from "./change-batch.ts";
import { retryEach } from "./retry-each.ts";

/** How long one that cannot go on is left alone: no room in the queue, or the database in trouble. */
const PAUSE_MS = 2_000;

/**
 * Takes up one unfinished bulk action of any tenant and works on it to its end, batch by batch; false = there is none.
 * A batch and its progress commit together, so whoever takes over after a crash goes on where the last commit was.
 */
export async function runBulkActions(runner: BulkRunner, signal: AbortSignal): Promise<boolean> {
  const held = await takeUpBulkAction(runner.adminDb, runner.holder, LEASE_MS);
  if (held === null) return false;
  let pauseMs = PAUSE_MS;
  try {
    let outcome: BatchOutcome = "more";
    while (outcome === "more" && !signal.aborted) outcome = await runBatch(runner, held);
    if (outcome === "ended") return true;
    if (outcome === "more") pauseMs = 0;
  } finally {
    await putDownBulkAction(runner.adminDb, held, pauseMs);
  }
  return !signal.aborted;
}

async function runBatch(runner: BulkRunner, held: HeldBulkAction): Promise<BatchOutcome> {
  const batch = await nextBatch(runner, held);
  if (batch === null) return "ended";
  switch (batch.action.action) {
    case "cancel":
      return cancelBatch(runner, held, batch.ids);
    case "discard":
      return discardBatch(runner, held, batch.ids);
    case "retry":
      return retryEach(runner, held, batch.ids);
  }
}

interface Batch {
  readonly action: BulkActionRow;
  readonly ids: readonly string[];
}

/** The next generations, looked for anew; `null` = there are none, the action is over, or it is not ours any more. */
function nextBatch({ db, batchSize }: BulkRunner, held: HeldBulkAction): Promise<Batch | null> {
  return withHeld(db, held, async (tx, action) => {
    const target = BulkTarget.parse(action.target);
    // A line of a chat that is cancelled by its ids must not be cut: what is named is one batch.
    const limit = action.action === "cancel" && target.ids !== undefined ? MOST_BULK_IDS : batchSize;
    const page = { limit, afterId: action.lastGenerationId };
    const ids = await findGenerationIds(tx, held.tenantId, targetedBefore(action, target), page);
    if (ids.length > 0) return { action, ids };
    await completeBulkAction(tx, held);
    return null;
  });
}
