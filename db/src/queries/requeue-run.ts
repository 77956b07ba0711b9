import type { NewEvent, ProviderErrorCode } from "@shiftwork/contracts";
import { sql } from "kysely";
import type { Tx } from "../transaction.ts";
import { wakeDispatcher } from "./dispatch-room.ts";
import { appendEvents } from "./generation-events.ts";
import { isReported, NO_USAGE, usageColumns, type HeldFence, type Usage } from "./generation-lifecycle.ts";

/** Whose run it was is gone; its worker shuts down; or its provider said when to come back. */
export type RequeueReason = "WORKER_LOST" | "SHUTTING_DOWN" | ProviderErrorCode;

export interface Requeue {
  readonly reason: RequeueReason;
  /** Readers have seen something of the reply, which they are told to throw away. */
  readonly streamed: boolean;
  /** Not started again before, in milliseconds from now by the database's clock. Default: at once. */
  readonly waitMs?: number | null;
  /** What its requests cost so far, as reported. Default: unknown. */
  readonly spent?: Usage;
  /** The last number the run's own events took. Default: that of the last one stored. */
  readonly afterSeq?: number | undefined;
}

/**
 * Puts a run back into the line under a new epoch; false = it ended, was taken, or a cancel was accepted meanwhile. Only a
 * lost worker costs an attempt; a provider's "wait" is counted apart.
 */
export async function requeueRun(tx: Tx, run: HeldFence, requeue: Requeue): Promise<boolean> {
  const { reason, streamed, waitMs = null, afterSeq } = requeue;
  const [uncounted, toldToWait] = [reason !== "WORKER_LOST", reason !== "WORKER_LOST" && reason !== "SHUTTING_DOWN"];
  const { rows } = await sql<{ attempts: number; notBefore: Date | null }>`
    update generations set
      status = 'queued', epoch = epoch + 1, dispatched_at = null, worker_id = null,
      attempts = attempts - ${uncounted ? 1 : 0}::int, told_waits = told_waits + ${toldToWait ? 1 : 0}::int,
      not_before = clock_timestamp() + make_interval(secs => ${waitMs}::float8 / 1000)
    where tenant_id = ${run.tenantId} and id = ${run.generationId} and status = 'running' and fence = ${run.fence}
      and cancel_requested_at is null
    returning attempts, not_before as "notBefore"
  `.execute(tx);
  const row = rows[0];
  if (!row) return false;
  await closeAttempt(tx, run, requeue);
  const nextAttemptAt = row.notBefore?.toISOString() ?? null;
  const retrying: NewEvent = {
    type: "generation.retrying",
    data: { attempt: row.attempts + 1, errorCode: reason, nextAttemptAt, resetOutput: streamed },
  };
  await appendEvents(tx, { tenantId: run.tenantId, generationId: run.generationId, events: [retrying], afterSeq });
  await wakeDispatcher(tx, run.tenantId);
  return true;
}

/** An attempt that is given back leaves no row, unless it has cost something: its number is used again. */
async function closeAttempt(tx: Tx, run: HeldFence, { reason, spent = NO_USAGE }: Requeue): Promise<void> {
  const mine = { tenant_id: run.tenantId, generation_id: run.generationId, fence: run.fence };
  const isLost = reason === "WORKER_LOST";
  if (!isLost && !isReported(spent)) {
    await tx
      .deleteFrom("generation_attempts")
      .where((eb) => eb.and(mine))
      .execute();
    return;
  }
  await tx
    .updateTable("generation_attempts")
    .set({
      ended_at: sql<Date>`now()`,
      outcome: isLost ? "lost" : "handed_back",
      error_code: reason,
      ...usageColumns(spent),
    })
    .where((eb) => eb.and(mine))
    .execute();
}
