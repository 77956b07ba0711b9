import { dropUntilFits, type Dropped, type Leaving } from "./drop-until-fits.ts";
import type { Plan } from "./plan.ts";
import { shortenResults } from "./shorten-results.ts";
import type { ShiftContext, ShiftInput, ShiftResult } from "./strategy.ts";

/** Lets groups leave in the given order; when that is not enough, shortens tool results before the budget is exceeded. */
export function* fit(input: ShiftInput, leaving: readonly Leaving[], context: ShiftContext): Plan<ShiftResult> {
  const result = asResult(dropUntilFits(input, leaving));
  if (result.exceeded === null || input.strategyOptions["shorten"] === false) return result;
  return (yield* shortenResults(result, input, context)) ?? result;
}

/** What was dropped, as the result of a shift that made no new text. */
export function asResult(dropped: Dropped): ShiftResult {
  return { ...dropped, truncated: [], diagnostics: [], summary: null };
}
