import type { Block, CountedBlock } from "../block.ts";
import type { ShiftInput, Strategy } from "../shift/strategy.ts";
import type { Counter } from "../tokens/counter.ts";
import { leaveOut, type ShiftStageResult } from "./shift.ts";
import { countBlock } from "./tokenize.ts";

/**
 * The second count and the final shift: whatever happened to the blocks since the first, they are counted again and made
 * to fit by the same strategy. What leaves here leaves as `final_shift`.
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
  const { kept, excluded, steps, exceeded } = input.strategy.shift({ ...input, blocks });
  return { kept, leftOut: excluded.map(({ block }) => leaveOut(block, "recount", "final_shift")), steps, exceeded };
}
