import type { Assembly, AssemblyInput } from "./assembly.ts";
import { tightenBudget, type ToldSize } from "./budget.ts";
import type { Diagnostic } from "./reasons.ts";

/**
 * An assembly as it stood before `shift`, under a budget that makes its prompt strictly smaller than the one a provider
 * refused as too long. Run the stages from `shift` on over it. `refused` = the same assembly after `verify`.
 */
export function underTighterBudget(unshifted: Assembly, refused: Assembly, told: ToldSize): Assembly {
  const promptTokens = refused.promptTokens;
  if (promptTokens === null) throw new Error("only a prompt that was sent can be refused");
  const budget = tightenBudget(unshifted.budget, promptTokens, told);
  const { contextLimit, budgetTokens } = unshifted.budget;
  const overflow: Diagnostic = {
    code: "overflow",
    stage: "shift",
    detail: {
      promptTokens,
      contextLimit,
      budgetTokens,
      newContextLimit: budget.contextLimit,
      newBudgetTokens: budget.budgetTokens,
      toldLimitTokens: told.limitTokens,
      toldPromptTokens: told.promptTokens,
    },
  };
  const input = withSummaryOf(refused, unshifted.input);
  return { ...unshifted, input, budget, diagnostics: [...unshifted.diagnostics, overflow] };
}

/** A summary that was written for the refused prompt is not paid for again. */
function withSummaryOf({ summary }: Assembly, input: AssemblyInput): AssemblyInput {
  const { sourceHash = null, text = "" } = summary ?? {};
  if (!input.summariser || sourceHash === null) return input;
  return { ...input, summariser: { ...input.summariser, stored: { sourceHash, text } } };
}
