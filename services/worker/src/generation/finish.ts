import { problem, type Problem, type TerminalStatus } from "@shiftwork/contracts";
import {
  endGeneration,
  isReported,
  NO_USAGE,
  prepareAudit,
  requeueRun,
  withTenant,
  type Ended,
  type Ending,
  type Requeue,
  type Usage,
} from "@shiftwork/db";
import { addUsage } from "./add-usage.ts";
import { inTenant } from "./in-tenant.ts";
import { learnCounts } from "./learn-counts.ts";
import { outcomeOf, type Outcome } from "./outcome.ts";
import type { Run, RunDependencies } from "./run-state.ts";
import { auditOf, contextOf } from "./store-audit.ts";
import { DatabaseAwayError, whileDatabaseIsAway } from "./while-database-is-away.ts";

/** Writes what came of a run: reply, usage, audit and status in one transaction under this attempt's fence. */
export async function finish(run: Run, outcome: Outcome, deps: RunDependencies): Promise<Outcome> {
  try {
    return await write(run, outcome, deps);
  } catch (error) {
    if (error instanceof DatabaseAwayError) return outcomeOf(error);
    throw error;
  }
}

async function write(run: Run, outcome: Outcome, deps: RunDependencies): Promise<Outcome> {
  await run.writer.settle();
  // What readers never saw must not be stored: the sweep finds the run and puts it back, or ends it with what they saw.
  if (run.writer.broken) return { kind: "fenced" };
  switch (outcome.kind) {
    case "completed":
      return end(run, "completed", null, deps);
    case "cancelled":
      return end(run, "cancelled", null, deps);
    case "failed":
      return end(run, "failed", outcome.error, deps);
    case "handed_back":
      return handBack(run, outcome, { reason: "SHUTTING_DOWN", waitMs: restOfWait(run) }, deps);
    case "told_to_wait":
      return handBack(run, outcome, { reason: outcome.errorCode, waitMs: outcome.waitMs }, deps);
    case "fenced":
    case "nothing_to_run":
      return outcome;
  }
}

/** Nobody is asked sooner than it said, even by another worker. */
function restOfWait({ waitEndsAtMs }: Run): number | null {
  return waitEndsAtMs === null ? null : Math.max(0, waitEndsAtMs - performance.now());
}

async function handBack(
  run: Run,
  outcome: Outcome,
  requeue: Omit<Requeue, "streamed" | "spent">,
  deps: RunDependencies,
): Promise<Outcome> {
  const told = { ...requeue, streamed: run.facts.hasBegun, spent: spentBy(run), afterSeq: run.events.lastSeq };
  const handed = await inTenant(deps, run.claim.tenantId, (tx) => requeueRun(tx, run.claim, told));
  // Refused = a cancel was accepted in the meantime, or the run is not ours any more; ending it tells which.
  return handed ? outcome : end(run, "cancelled", null, deps);
}

async function end(run: Run, status: TerminalStatus, error: Problem | null, deps: RunDependencies): Promise<Outcome> {
  const ended = await whileDatabaseIsAway(() => endOnce(run, endingOf(run, status, error), deps)).catch(
    (refused: unknown) => endAsInternal(run, refused, deps),
  );
  if (!ended) return { kind: "fenced" };
  if (ended.status === "completed") await learnCounts(run, deps);
  if (ended.status === "failed") return { kind: "failed", error: error ?? CANNOT_BE_STORED };
  return { kind: ended.status };
}

const CANNOT_BE_STORED = problem("INTERNAL", "The reply could not be stored; the log has the details.");

/** The database refuses what came of the run: it ends as failed, with its text alone. Running it again would cost it again. */
function endAsInternal(run: Run, refused: unknown, deps: RunDependencies): Promise<Ended | null> {
  if (refused instanceof DatabaseAwayError) throw refused;
  run.log.error({ err: refused }, "the end of a run was refused");
  const ending = endingOf(run, "failed", CANNOT_BE_STORED);
  const plain = { finishReason: null, usage: NO_USAGE, spent: NO_USAGE, toolCalls: [], auditPatch: {} };
  return whileDatabaseIsAway(() => endOnce(run, { ...ending, ...plain }, deps));
}

function endOnce(run: Run, ending: Ending, deps: RunDependencies): Promise<Ended | null> {
  return withTenant(deps.db, run.claim.tenantId, async (tx) => {
    // A prompt that was assembled and refused is audited too: it is prepared and finished in one go.
    const unprepared = run.prompt !== null && !run.auditPrepared ? run.prompt : null;
    return endGeneration(tx, ending, unprepared && (() => prepareAudit(tx, auditOf(run.claim, unprepared.document))));
  });
}

function endingOf(run: Run, status: TerminalStatus, error: Problem | null): Ending {
  const { claim, events, facts, prompt, writer } = run;
  return {
    tenantId: claim.tenantId,
    generationId: claim.generationId,
    chatId: claim.chatId,
    expected: { status: "running", fence: claim.fence },
    status,
    error,
    finishReason: facts.finishReason,
    usage: facts.usage,
    spent: spentBy(run),
    text: writer.text,
    toolCalls: facts.toolCalls,
    firstTokenAt: writer.firstTokenAt,
    context: prompt && contextOf(prompt.document),
    stages: prompt && prompt.document.stages,
    anchorMessageId: prompt && prompt.anchorId,
    auditPatch: isReported(facts.usage) ? { usage: facts.usage } : {},
    afterSeq: events.lastSeq,
  };
}

function spentBy({ facts }: Run): Usage {
  return addUsage(facts.spentBefore, facts.usage);
}
