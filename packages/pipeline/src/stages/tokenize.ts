import type { Block } from "../block.ts";
import { upperBoundTokens } from "../shift/token-bound.ts";
import { protect } from "../shift/protection.ts";
import type { MeasuredBlock } from "../shift/strategy.ts";
import type { Counter } from "../tokens/counter.ts";
import { toWireMessage, type WireBlock } from "../wire/openai-chat.ts";

/**
 * Bytes of history that are counted although they cannot fit, so that an ordinary chat's audit has every number. At
 * 5 MB/s this costs about 50 ms at most; beyond it old history keeps its byte bound.
 */
export const COUNT_AHEAD_BYTES = 262_144;

/** The whole cost of a block: that of the wire message it becomes, or of what else the assembly's wire makes of it. */
export function countBlock(counter: Counter, block: WireBlock): number {
  return counter.countBlock?.(block) ?? counter.countMessage(toWireMessage(block).message);
}

/**
 * Counts every block once. History so old that newer history alone fills the budget cannot stay under any strategy: of
 * it only `COUNT_AHEAD_BYTES` are counted, the rest keeps `tokens: null`. So the cost grows with what can be kept.
 */
export function tokenize(input: {
  readonly blocks: readonly Block[];
  readonly counter: Counter;
  readonly budgetTokens: number;
  readonly overheadTokens: number;
  /** Whether a block's group leaves whatever fits; such groups take no room. */
  readonly leavesAnyway?: (block: Block) => boolean;
}): readonly MeasuredBlock[] {
  const { groups, isProtected } = protect(input.blocks);
  const tokensOf = new Map<Block, number>();
  const count = (block: Block): number => {
    const tokens = countBlock(input.counter, block);
    tokensOf.set(block, tokens);
    return tokens;
  };
  let total = input.overheadTokens;
  const history = groups.filter((group) => group.members[0].source === "history" && !isProtected(group));
  const optional = new Set(history);
  const takesRoom = (group: (typeof groups)[number]): boolean =>
    input.leavesAnyway === undefined || !group.members.some(input.leavesAnyway);
  for (const group of groups) {
    if (optional.has(group)) continue;
    for (const block of group.members) {
      const tokens = count(block);
      if (isProtected(group)) total += tokens;
    }
  }
  let aheadBytes = COUNT_AHEAD_BYTES;
  for (const group of history.toReversed()) {
    const beyond = total > input.budgetTokens;
    if (beyond) aheadBytes -= group.members.reduce((sum, block) => sum + upperBoundTokens(block), 0);
    if (aheadBytes < 0) break;
    const cost = group.members.reduce((sum, block) => sum + count(block), 0);
    if (takesRoom(group)) total += cost;
  }
  return input.blocks.map((block) => ({ ...block, tokens: tokensOf.get(block) ?? null }));
}
