import { budgetProblem, problem } from "@shiftwork/contracts";
import { keepGenerationSummary, prepareAudit, recordContext, withTenant, type Tx } from "@shiftwork/db";
import { reportAssembly, runStage, STAGES, type AssemblyReport, type Stage } from "@shiftwork/pipeline";
import { providerByKind, providerTarget, summaryCost } from "@shiftwork/providers";
import { RunAborted } from "./active-runs.ts";
import { loadRun } from "./load.ts";
import { RunFailed } from "./outcome.ts";
import type { Run, RunDependencies } from "./run-state.ts";
import { auditOf, contextOf, preparedEvent } from "./store-audit.ts";
import { streamReply } from "./stream-reply.ts";
import { whileDatabaseIsAway } from "./while-database-is-away.ts";

export interface Step {
  readonly name: string;
  /** Null = bounded otherwise: by the timeouts of what is called, and the generation's deadline. */
  readonly deadlineMs: number | null;
  readonly run: (run: Run, deps: RunDependencies) => Promise<void>;
}

const CHECKPOINT: Step = { name: "checkpoint", deadlineMs: 30_000, run: checkpoint };

/** What a run does, in this order. The pipeline's stages stand here as they stand there: there is one list of them. */
export const STEPS: readonly Step[] = [
  { name: "load", deadlineMs: 30_000, run: load },
  ...STAGES.flatMap((stage) => (stage.name === "shift" ? [stepOf(stage), CHECKPOINT] : [stepOf(stage)])),
  { name: "audit", deadlineMs: 30_000, run: audit },
  { name: "stream", deadlineMs: null, run: stream },
];

function stepOf(stage: Stage): Step {
  return {
    name: stage.name,
    // `shift` may wait for a model: what it waits for is bounded where it is called.
    deadlineMs: stage.name === "shift" ? null : stage.deadlineMs,
    async run(run) {
      run.assembly = await runStage(stage, present(run.assembly), run.active.signal);
    },
  };
}

function load(run: Run, deps: RunDependencies): Promise<void> {
  return inTenant(deps, run.claim.tenantId, (tx) => loadRun(tx, run, deps));
}

/** Keeps a summary that was paid for, so that another attempt need not pay again, and lists its cost. */
async function checkpoint(run: Run, deps: RunDependencies): Promise<void> {
  const { helper, claim } = run;
  if (helper === null) return;
  const assembly = present(run.assembly);
  const cost = summaryCost(assembly.summary, helper);
  if (cost !== null) run.assembly = { ...assembly, diagnostics: [...assembly.diagnostics, cost] };
  const { sourceHash = null, text = "" } = assembly.summary ?? {};
  if (sourceHash === null || helper.calls.length === 0) return;
  await inTenant(deps, claim.tenantId, (tx) => keepGenerationSummary(tx, claim, { sourceHash, text }));
}

/** Writes down what is about to be sent, before it is sent. */
async function audit(run: Run): Promise<void> {
  const report = reportAssembly(present(run.assembly));
  run.report = report;
  refuseWhatMustNotLeave(report, run.claim.request.expectedHash);
  const written = await run.events.append([preparedEvent(report)], {
    touchesChat: true,
    async also(tx) {
      await prepareAudit(tx, auditOf(run.claim, report));
      await recordContext(tx, run.claim, { context: contextOf(report), stages: report.stages });
    },
  });
  if (!written) throw new RunAborted("fenced");
  run.auditPrepared = true;
}

function refuseWhatMustNotLeave(report: AssemblyReport, expectedHash: string | null): void {
  if (report.error) throw new RunFailed(budgetProblem(report.error));
  if (expectedHash !== null && report.assemblyHash !== expectedHash) {
    throw new RunFailed(
      problem("ASSEMBLY_CHANGED", "The assembled prompt is not the one the preview promised; preview again.", {
        expected: expectedHash,
        assembled: report.assemblyHash,
      }),
    );
  }
}

async function stream(run: Run, deps: RunDependencies): Promise<void> {
  const row = present(run.provider);
  const request = present(run.report?.request);
  await streamReply({
    provider: present(providerByKind(row.kind)),
    target: providerTarget(run.claim.tenantId, row, deps.masterKey),
    request,
    timeouts: deps.timeouts,
    writer: run.writer,
    facts: run.facts,
    signal: run.active.signal,
  });
}

/** Repeated while the database is away: the step's own deadline ends that. */
function inTenant<T>(deps: RunDependencies, tenantId: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  return whileDatabaseIsAway(() => withTenant(deps.db, tenantId, work));
}

function present<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error("a step ran before the one it builds on");
  return value;
}
