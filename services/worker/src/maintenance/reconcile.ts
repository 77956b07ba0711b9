import { problem } from "@shiftwork/contracts";
import {
  findPastDeadline,
  findRunsOfDeadWorkers,
  findUnclaimed,
  removeSilentWorkers,
  undoDispatch,
  withTenant,
  type Db,
} from "@shiftwork/db";
import type { Queue } from "@shiftwork/platform";
import { eachInTurn } from "./each-in-turn.ts";
import { endHeldRun, takeOver } from "./take-over.ts";

export interface ReconcileOptions {
  readonly db: Db;
  readonly queue: Queue;
  /** A worker silent for this long is dead. */
  readonly deadAfterMs: number;
  /** A dispatched job nobody claimed for this long is looked up in the queue. */
  readonly unclaimedAfterMs: number;
  /** A running generation's own worker has this long after the deadline to end it itself. */
  readonly deadlineGraceMs: number;
}

/** Rows looked at per pass and kind; the next pass takes the rest. */
const BATCH = 500;

/**
 * Puts right what a crash left: the only thing in the system that runs a generation again. One leader calls it. What
 * cannot be put right is thrown at the end, so that one broken generation costs no other its deadline.
 */
export async function reconcile(options: ReconcileOptions): Promise<void> {
  const parts = [takeFromDeadWorkers, endPastDeadline, redispatchLost, forgetSilentWorkers];
  await eachInTurn(parts, (part) => part(options));
}

async function takeFromDeadWorkers({ db, deadAfterMs }: ReconcileOptions): Promise<void> {
  const runs = await findRunsOfDeadWorkers(db, deadAfterMs, BATCH);
  await eachInTurn(runs, (run) => withTenant(db, run.tenantId, (tx) => takeOver(tx, run)));
}

async function endPastDeadline({ db, deadlineGraceMs }: ReconcileOptions): Promise<void> {
  const error = problem("DEADLINE_EXCEEDED", "The reply was not finished by the deadline.");
  const runs = await findPastDeadline(db, deadlineGraceMs, BATCH);
  await eachInTurn(runs, (run) => withTenant(db, run.tenantId, (tx) => endHeldRun(tx, run, "failed", error)));
}

/** A job the queue does not know any more (flushed, finished without a claim) goes out again under a new epoch. */
async function redispatchLost({ db, queue, unclaimedAfterMs }: ReconcileOptions): Promise<void> {
  for (const generation of await findUnclaimed(db, unclaimedAfterMs, BATCH)) {
    if ((await queue.state(generation)) === "gone") await undoDispatch(db, generation);
  }
}

async function forgetSilentWorkers({ db }: ReconcileOptions): Promise<void> {
  await removeSilentWorkers(db);
}
