import type { ShiftResult, Truncation } from "./strategy.ts";

/** A result in which a kept block stands with its shorter text, with the step that says so; `tokensBefore` = the total until then. */
export function replaceText(result: ShiftResult, truncation: Truncation, tokensBefore: number): ShiftResult {
  const { block, replacement, originalTokens, tokens } = truncation;
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
