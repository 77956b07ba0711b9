import type { ShiftResult, Truncation } from "./strategy.ts";

/** A result in which a kept block stands with its shorter text, with the step that says so. */
export function replaceText(result: ShiftResult, truncation: Truncation): ShiftResult {
  const { block, replacement, originalTokens, tokens } = truncation;
  const tokensBefore = result.steps.at(-1)?.tokensAfter ?? result.exceeded?.protectedTokens ?? originalTokens;
  const step = {
    step: result.steps.length + 1,
    action: "truncate" as const,
    blockIds: [block.id],
    tokensBefore,
    tokensAfter: tokensBefore - originalTokens + tokens,
  };
  return {
    ...result,
    kept: result.kept.map((kept) => (kept === block ? replacement : kept)),
    truncated: [...result.truncated, truncation],
    steps: [...result.steps, step],
  };
}
