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
import type { FrameWriter, Queue } from "@shiftwork/platform";
import { eachInTurn } from "./each-in-turn.ts";
import { endHeldRun, takeOver } from "./take-over.ts";

export interface ReconcileOptions {
  readonly db: Db;
  readonly queue: Queue;
  readonly frames: FrameWriter | null;
  /** A worker silent for this long is dead. */
  readonly deadAfterMs: number;
  /** A dispatched job nobody claimed for this long goes back to the line. */
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
  const parts = [takeFromDeadWorkers, endPastDeadline, takeBackUnclaimed, forgetSilentWorkers];
  await eachInTurn(parts, (part) => part(options));
}

async function takeFromDeadWorkers({ db, frames, deadAfterMs }: ReconcileOptions): Promise<void> {
  const runs = await findRunsOfDeadWorkers(db, deadAfterMs, BATCH);
  await eachInTurn(runs, (run) => withTenant(db, run.tenantId, (tx) => takeOver(tx, run, frames)));
}

async function endPastDeadline({ db, frames, deadlineGraceMs }: ReconcileOptions): Promise<void> {
  const error = problem("DEADLINE_EXCEEDED", "The reply was not finished by the deadline.");
  const runs = await findPastDeadline(db, deadlineGraceMs, BATCH);
  await eachInTurn(runs, (run) => withTenant(db, run.tenantId, (tx) => endHeldRun(tx, run, frames, "failed", error)));
}

/**
 * Three kinds go back to the line under a new epoch: what the queue has lost, what an operator's pause caught before it
 * began, and what waited long in the queue, whose rank is out of date: without that, ever new jobs of others pass it.
 */
async function takeBackUnclaimed({ db, queue, unclaimedAfterMs }: ReconcileOptions): Promise<void> {
  for (const generation of await findUnclaimed(db, unclaimedAfterMs, BATCH)) {
    const state = await queue.state(generation);
    // Active: a worker has it in its hands. Not removed: one has just taken it.
    if (state === "gone" || (state === "waiting" && (await queue.remove(generation)))) {
      await undoDispatch(db, generation);
    }
  }
}

async function forgetSilentWorkers({ db }: ReconcileOptions): Promise<void> {
  await removeSilentWorkers(db);
}
