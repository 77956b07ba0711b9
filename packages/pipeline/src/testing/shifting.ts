import { runNow } from "../shift/plan.ts";
import type { BuiltInStrategy, ShiftContext, ShiftInput, ShiftResult } from "../shift/strategy.ts";

/** A host whose counter takes a token for every four characters and four for the frame. */
export function aShiftContext(part: Partial<ShiftContext> = {}): ShiftContext {
  return { count: (block) => 4 + Math.ceil(block.content.length / 4), contextLimit: 8_192, ...part };
}

/** Runs a strategy that waits for nothing. */
export function shiftNow(
  strategy: BuiltInStrategy,
  input: Pick<ShiftInput, "blocks" | "budgetTokens"> & Partial<ShiftInput>,
  context: Partial<ShiftContext> = {},
): ShiftResult {
  const whole = { overheadTokens: 0, strategyOptions: {}, tieRanks: new Map<string, number>(), ...input };
  return runNow(strategy.plan(whole, aShiftContext(context)));
}
