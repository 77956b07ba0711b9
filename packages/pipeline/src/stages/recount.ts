import type { Block, CountedBlock } from "../block.ts";
import { fit } from "../shift/fit.ts";
import { runNow } from "../shift/plan.ts";
import { isBuiltIn } from "../shift/registry.ts";
import { truncate } from "../shift/strategies/truncate.ts";
import type { ShiftInput, Strategy } from "../shift/strategy.ts";
import type { Counter } from "../tokens/counter.ts";
import { leaveOut, type ShiftStageResult } from "./shift.ts";
import { countBlock } from "./tokenize.ts";

/**
 * The second count and the final shift: whatever happened to the blocks since the first, they are counted again and made
 * to fit in the same strategy's leaving order. What leaves here leaves as `final_shift`.
 */
export function recount(
  input: Omit<ShiftInput, "blocks"> & {
    readonly blocks: readonly Block[];
    readonly strategy: Strategy;
    readonly counter: Counter;
  },
): ShiftStageResult {
  const blocks: readonly CountedBlock[] = input.blocks.map((block) => ({
    ...block,
    tokens: countBlock(input.counter, block),
  }));
  const again = { ...input, blocks };
  const { leavingOrder } = isBuiltIn(input.strategy) ? input.strategy : truncate;
  const context = { count: (block: Block) => countBlock(input.counter, block), contextLimit: input.budgetTokens };
  const { kept, excluded, steps, exceeded } = runNow(fit(again, leavingOrder(again), context));
  return { kept, leftOut: excluded.map(({ block }) => leaveOut(block, "recount", "final_shift")), steps, exceeded };
}
