import { problem, type NewEvent } from "@shiftwork/contracts";
import { reportAssembly, underTighterBudget, type ToldSize } from "@shiftwork/pipeline";
import { ProviderError } from "@shiftwork/providers";
import { askProvider } from "./ask-provider.ts";
import { FIT } from "./assemble.ts";
import { writeAudit } from "./audit-prompt.ts";
import { RunFailed } from "./outcome.ts";
import { promptOf, type Prompt } from "./prompt.ts";
import type { Run, RunDependencies } from "./run-state.ts";
import { present, takeSteps } from "./step.ts";
import { preparedEvent } from "./store-audit.ts";

/** Sends the audited request; one that the provider finds too long is fitted again, tighter, and sent once more. */
export async function sendRequest(run: Run, deps: RunDependencies): Promise<void> {
  const first = present(run.prompt);
  try {
    await askProvider(run, deps, present(first.document.providerRequest));
  } catch (error) {
    const told = run.facts.hasBegun || run.claim.replay !== null ? null : toldByOverflow(error);
    if (told === null) throw error;
    await fitAgain(run, deps, first, told);
    await askProvider(run, deps, present(run.prompt?.document.providerRequest));
  }
}

function toldByOverflow(error: unknown): ToldSize | null {
  if (!(error instanceof ProviderError) || error.code !== "PROVIDER_CONTEXT_LENGTH") return null;
  return error.toldSize ?? { limitTokens: null, promptTokens: null };
}

/** The audit then holds both requests. What the provider counts differently, nobody's preview can promise. */
async function fitAgain(run: Run, deps: RunDependencies, first: Prompt, told: ToldSize): Promise<void> {
  run.assembly = underTighterBudget(present(run.unshifted), present(run.assembly), told);
  await takeSteps(FIT, run, deps);
  const report = reportAssembly(present(run.assembly));
  // What was written for the log so far comes before what is written here.
  await run.writer.settle();
  if (report.error !== null) {
    const overflow = report.diagnostics.filter(({ code }) => code === "overflow");
    const document = { ...first.document, diagnostics: [...first.document.diagnostics, ...overflow] };
    run.prompt = { ...first, document };
    await writeAudit(run, document, []);
    throw new RunFailed(cannotShrink(report.error));
  }
  run.prompt = promptOf(report, [present(first.document.providerRequest)]);
  await writeAudit(run, run.prompt.document, [tooLong(run), preparedEvent(run.prompt.document)]);
}

function tooLong({ claim }: Run): NewEvent {
  const data = { attempt: claim.attempt, errorCode: "PROVIDER_CONTEXT_LENGTH", nextAttemptAt: null } as const;
  return { type: "generation.retrying", data: { ...data, resetOutput: false } };
}

function cannotShrink(error: NonNullable<Prompt["document"]["error"]>) {
  const { protectedTokens, budgetTokens, contextLimit, reservedForReply, largest } = error;
  const detail = `The provider found the prompt too long, and it cannot be made shorter: protected context needs ${protectedTokens} tokens; ${budgetTokens} would be available.`;
  return problem("PROVIDER_CONTEXT_LENGTH", detail, {
    contextLimit,
    reservedForReply,
    protectedTokens,
    budgetTokens,
    // Labels are content: the audit has them, the row that outlives it does not.
    largest: largest.map(({ blockId, source, tokens }) => ({ blockId, source, tokens })),
  });
}
