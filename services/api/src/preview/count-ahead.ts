import { STRATEGIES, type Assembly, type MeasuredBlock, type Strategy } from "@shiftwork/pipeline";
import { performance } from "node:perf_hooks";
import { nextTurn } from "./take-turns.ts";

/** How long one slice may count, in milliseconds. */
const SLICE_MS = 8;
/** Bytes of history that `tokenize` counts beyond what fits; see `COUNT_AHEAD_BYTES` there. */
const BEYOND_BYTES = 262_144;

/** How much of the old history a strategy needs counted: 2 = all of it, 1 = more than fits, 0 = what fits. */
export function needOf(strategy: Strategy): 0 | 1 | 2 {
  const own = Object.values(STRATEGIES).find((each) => each === strategy);
  if (own === undefined || own.oldHistory === "counted") return 2;
  return own === STRATEGIES.manual ? 1 : 0;
}

/**
 * Counts the history, newest first, as far as the stages will ask for it, a slice at a time. The assembly's counter
 * remembers texts, so that the stages, which do not pause, find their counts.
 */
export async function countAhead(
  { blocks, counter }: Assembly,
  { strategy, budget }: Pick<Assembly, "strategy" | "budget">,
  signal: AbortSignal,
): Promise<void> {
  const everything = needOf(strategy) === 2;
  let space = budget.budgetTokens;
  let beyond = BEYOND_BYTES;
  let until = 0;
  for (const block of blocks.toReversed()) {
    if (!everything && beyond < 0) return;
    if (performance.now() >= until) {
      await nextTurn();
      signal.throwIfAborted();
      until = performance.now() + SLICE_MS;
    }
    if (space < 0) beyond -= block.content.length;
    space -= countTexts(counter, block);
  }
}

function countTexts({ countText }: Assembly["counter"], { content, toolCalls }: MeasuredBlock): number {
  return toolCalls.reduce((sum, call) => sum + countText(call.arguments), countText(content));
}
