import type { CountedBlock } from "../block.ts";
import { isCallGroup } from "./group.ts";
import type { Plan } from "./plan.ts";
import { protect } from "./protection.ts";
import { replaceText } from "./replace-text.ts";
import { shortenBlock } from "./shorten-block.ts";
import type { ShiftContext, ShiftInput, ShiftResult } from "./strategy.ts";

/** A result is never cut below this. */
const SMALLEST_RESULT_TOKENS = 32;

/**
 * The last step before the error: shortens the unpinned results of the newest call group, longest first, each to 32
 * tokens at the least, until the total fits. `null` when that is not enough; then nothing is shortened.
 */
export function* shortenResults(
  result: ShiftResult,
  input: ShiftInput,
  context: ShiftContext,
): Plan<ShiftResult | null> {
  const results = newestResults(result.kept);
  let fitted = result;
  let excess = (result.exceeded?.protectedTokens ?? 0) - input.budgetTokens;
  const savings = results.reduce((sum, block) => sum + Math.max(0, block.tokens - SMALLEST_RESULT_TOKENS), 0);
  if (savings < excess) return null;
  for (const block of results) {
    if (excess <= 0) break;
    const limit = Math.max(SMALLEST_RESULT_TOKENS, block.tokens - excess);
    const shorter = yield* shortenBlock(block, limit, context);
    if (shorter === null) continue;
    const truncation = { block, replacement: shorter, originalTokens: block.tokens, tokens: shorter.tokens };
    fitted = replaceText(fitted, truncation, input.budgetTokens + excess);
    excess -= block.tokens - shorter.tokens;
  }
  return excess <= 0 ? { ...fitted, exceeded: null } : null;
}

/** Longest first; equal ones in prompt order. */
function newestResults(kept: readonly CountedBlock[]): readonly CountedBlock[] {
  const { groups, isOpenTurn } = protect(kept);
  const newest = groups.findLast((group) => isOpenTurn(group) && isCallGroup(group));
  const results = newest?.members.filter((block) => block.role === "tool" && !block.pinned) ?? [];
  return results.toSorted((a, b) => b.tokens - a.tokens);
}
