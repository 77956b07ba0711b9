import { budgetProblem, problem, type NewEvent } from "@shiftwork/contracts";
import { prepareAudit, recordContext } from "@shiftwork/db";
import { reportAssembly, type AuditDocument } from "@shiftwork/pipeline";
import { RunAborted } from "./active-runs.ts";
import { RunFailed } from "./outcome.ts";
import { promptOf } from "./prompt.ts";
import type { Run } from "./run-state.ts";
import { present } from "./step.ts";
import { auditOf, contextOf, preparedEvent } from "./store-audit.ts";

/** Writes down what is about to be sent, before it is sent. */
export async function auditPrompt(run: Run): Promise<void> {
  run.prompt ??= promptOf(reportAssembly(present(run.assembly)));
  const { document } = run.prompt;
  if (run.claim.replay === null) refuseWhatMustNotLeave(document, run.claim.request.expectedHash);
  await writeAudit(run, document, [preparedEvent(document)]);
}

/** The audit, the numbers on the row and the events that tell of them, in one transaction. */
export async function writeAudit(run: Run, document: AuditDocument, events: readonly NewEvent[]): Promise<void> {
  const written = await run.events.append(events, {
    touchesChat: true,
    async also(tx) {
      await prepareAudit(tx, auditOf(run.claim, document));
      await recordContext(tx, run.claim, { context: contextOf(document), stages: document.stages });
    },
  });
  if (!written) throw new RunAborted("fenced");
  run.auditPrepared = true;
}

function refuseWhatMustNotLeave(document: AuditDocument, expectedHash: string | null): void {
  if (document.error) throw new RunFailed(budgetProblem(document.error));
  if (expectedHash !== null && document.assemblyHash !== expectedHash) {
    throw new RunFailed(
      problem("ASSEMBLY_CHANGED", "The assembled prompt is not the one the preview promised; preview again.", {
        expected: expectedHash,
        assembled: document.assemblyHash,
      }),
    );
  }
}
