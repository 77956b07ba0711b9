import { budgetProblem, problem, resolveSettings } from "@shiftwork/contracts";
import {
  findChat,
  findProvider,
  loadConversation,
  prepareAudit,
  readTenantSettings,
  recordContext,
  withTenant,
  type Tx,
} from "@shiftwork/db";
import { reportAssembly, runStage, STAGES, startAssembly, type AssemblyReport } from "@shiftwork/pipeline";
import { hostClock, openSecret, providerSecretContext } from "@shiftwork/platform";
import { providerByKind } from "@shiftwork/providers";
import { RunAborted } from "./active-runs.ts";
import { RunFailed } from "./outcome.ts";
import type { Run, RunDependencies } from "./run-state.ts";
import { auditOf, contextOf, preparedEvent } from "./store-audit.ts";
import { streamReply } from "./stream-reply.ts";
import { whileDatabaseIsAway } from "./while-database-is-away.ts";

export interface Step {
  readonly name: string;
  /** Null = bounded otherwise: the stream by the provider's timeouts and the generation's deadline. */
  readonly deadlineMs: number | null;
  readonly run: (run: Run, deps: RunDependencies) => Promise<void>;
}

/** What a run does, in this order. The pipeline's stages stand here as they stand there: there is one list of them. */
export const STEPS: readonly Step[] = [
  { name: "load", deadlineMs: 30_000, run: load },
  ...STAGES.map((stage) => ({
    name: stage.name,
    deadlineMs: stage.deadlineMs,
    run: async (run: Run) => {
      run.assembly = await runStage(stage, present(run.assembly), run.active.signal);
    },
  })),
  { name: "audit", deadlineMs: 30_000, run: audit },
  { name: "stream", deadlineMs: null, run: stream },
];

/** Reads everything the prompt is made of, in one transaction. */
async function load(run: Run, deps: RunDependencies): Promise<void> {
  const { claim } = run;
  const { tenantId, chatId, request } = claim;
  await inTenant(deps, tenantId, async (tx) => {
    const conversation = await loadConversation(tx, tenantId, {
      chatId,
      inputMessageId: claim.inputMessageId,
      draft: null,
      personaId: request.personaId,
      lorebookIds: request.lorebookIds,
    });
    // The chat was deleted under the run: the row no longer names it, so nothing can be written either.
    if (!conversation) throw new RunAborted("fenced");
    run.provider = await findProvider(tx, tenantId, claim.providerId);
    if (!run.provider)
      throw new RunFailed(problem("PROVIDER_NOT_FOUND", "The provider was removed after the request was accepted."));
    const settings = resolveSettings({
      request,
      row: claim,
      chat: (await findChat(tx, tenantId, chatId, null))?.settings ?? {},
      tenant: await readTenantSettings(tx, tenantId),
      provider: run.provider,
    });
    const { strategies, interceptors } = deps.plugins;
    run.assembly = startAssembly({ conversation, settings, strategies, interceptors, clock: hostClock });
  });
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
  const sealedFor = providerSecretContext(run.claim.tenantId, row.id);
  await streamReply({
    provider: present(providerByKind(row.kind)),
    target: {
      baseUrl: row.baseUrl,
      apiKey: row.secret && openSecret(deps.masterKey, row.secret, sealedFor),
      allowPrivateNetwork: row.allowPrivateNetwork,
    },
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
