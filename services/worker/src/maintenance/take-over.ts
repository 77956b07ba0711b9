import { problem, type Problem, type TerminalStatus } from "@shiftwork/contracts";
import {
  endGeneration,
  lockHeldRun,
  NO_USAGE,
  readStreamedText,
  readStreamedUsage,
  requeueRun,
  type HeldRun,
  type Tx,
  type Usage,
} from "@shiftwork/db";

/** Takes a run from a worker that is not running it any more: an accepted cancel ends it, else it runs again, three times at most. */
export async function takeOver(tx: Tx, run: HeldRun): Promise<void> {
  if (run.cancelRequested) return endHeldRun(tx, run, "cancelled", null);
  if (run.attempts >= run.maxAttempts) {
    const error = problem("WORKER_LOST", `${run.attempts} workers were lost while running this.`);
    return endHeldRun(tx, run, "failed", error);
  }
  // Before the log is read: its worker may be slow, not gone, and about to stream a first word.
  if (!(await lockHeldRun(tx, run))) return;
  const streamed = await readStreamedText(tx, run.tenantId, run.generationId);
  await requeueRun(tx, run, { reason: "WORKER_LOST", streamed: streamed !== "", spent: await spentBy(tx, run) });
}

/** Ends a run in its worker's place, with the text the event log still holds. */
export async function endHeldRun(tx: Tx, run: HeldRun, status: TerminalStatus, error: Problem | null): Promise<void> {
  const running = run.status === "running";
  if (!(await lockHeldRun(tx, run))) return;
  await endGeneration(tx, {
    tenantId: run.tenantId,
    generationId: run.generationId,
    chatId: run.chatId,
    expected: running ? { status: "running", fence: run.fence } : { status: "queued", epoch: run.epoch },
    status,
    error,
    finishReason: null,
    usage: NO_USAGE,
    ...(running ? { spent: await spentBy(tx, run) } : {}),
    text: running ? await readStreamedText(tx, run.tenantId, run.generationId) : "",
    toolCalls: [],
    firstTokenAt: null,
    context: null,
    stages: null,
    anchorMessageId: null,
    auditPatch: {},
  });
}

async function spentBy(tx: Tx, { tenantId, generationId }: HeldRun): Promise<Usage> {
  return { ...NO_USAGE, ...(await readStreamedUsage(tx, tenantId, generationId)) };
}
