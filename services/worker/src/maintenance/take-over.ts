import { problem, type Problem, type TerminalStatus } from "@shiftwork/contracts";
import { endGeneration, lockHeldRun, NO_USAGE, requeueRun, type HeldRun, type Tx } from "@shiftwork/db";
import type { FrameWriter } from "@shiftwork/platform";
import { NOTHING_STREAMED, readStreamed } from "./read-streamed.ts";

/** Takes a run from a worker that is not running it any more: an accepted cancel ends it, else it runs again, three times at most. */
export async function takeOver(tx: Tx, run: HeldRun, frames: FrameWriter | null): Promise<void> {
  if (run.cancelRequested) return endHeldRun(tx, run, frames, "cancelled", null);
  if (run.attempts >= run.maxAttempts) {
    const error = problem("WORKER_LOST", `${run.attempts} workers were lost while running this.`);
    return endHeldRun(tx, run, frames, "failed", error);
  }
  // Before the log is read: its worker may be slow, not gone, and about to stream a first word.
  if (!(await lockHeldRun(tx, run))) return;
  const { hasText, spent, afterSeq } = await readStreamed(tx, run, frames);
  await requeueRun(tx, run, { reason: "WORKER_LOST", streamed: hasText, spent, afterSeq });
}

/** Ends a run in its worker's place, with the text the event log still holds. */
export async function endHeldRun(
  tx: Tx,
  run: HeldRun,
  frames: FrameWriter | null,
  status: TerminalStatus,
  error: Problem | null,
): Promise<void> {
  const running = run.status === "running";
  if (!(await lockHeldRun(tx, run))) return;
  const { text, spent, afterSeq } = running ? await readStreamed(tx, run, frames) : NOTHING_STREAMED;
  await endGeneration(tx, {
    tenantId: run.tenantId,
    generationId: run.generationId,
    chatId: run.chatId,
    expected: running ? { status: "running", fence: run.fence } : { status: "queued", epoch: run.epoch },
    status,
    error,
    finishReason: null,
    usage: NO_USAGE,
    spent,
    text,
    toolCalls: [],
    firstTokenAt: null,
    context: null,
    stages: null,
    anchorMessageId: null,
    auditPatch: {},
    afterSeq,
  });
}
