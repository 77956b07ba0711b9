import type { Leaving } from "./drop-until-fits.ts";
import { boundTokens } from "./token-bound.ts";
import type { ShiftInput } from "./strategy.ts";

/** Whether an entry belongs to what the low-water mark drives out: history before the open turn, and examples. */
export function isHistory({ reason, group }: Leaving): boolean {
  return (reason === "shift_oldest" && group.members[0].source !== "summary") || reason === "shift_example";
}

/**
 * What left on an earlier turn and stays away: the history before the anchor, and examples that leave ahead of it.
 * Nothing without `lowWater`, or when the anchor is no longer there; then the history is trimmed anew.
 */
export function cutAtAnchor(input: ShiftInput, leaving: readonly Leaving[]): readonly Leaving[] {
  const { lowWater = null, anchorId = null, blocks } = input;
  if (lowWater === null || anchorId === null) return [];
  const anchor = blocks.findIndex((block) => isBranch(block.source) && (block.refId ?? block.id) === anchorId);
  if (anchor === -1) return [];
  const before = leaving.filter(
    (entry) => entry.reason === "shift_oldest" && isHistory(entry) && entry.group.position < anchor,
  );
  const firstOut = before[0];
  if (firstOut === undefined) return [];
  const ahead = leaving.slice(0, leaving.indexOf(firstOut)).filter(({ reason }) => reason === "shift_example");
  return [...ahead, ...before];
}

function isBranch(source: string): boolean {
  return source === "history" || source === "input";
}

/**
 * How far history leaves once the total is over budget: to `lowWater` of the budget; where everything else alone costs
 * more than that, to the same share of the space beside it, so that a large prompt does not lose its whole history.
 */
export function lowWaterTarget(input: ShiftInput, leaving: readonly Leaving[], totalTokens: number): number {
  const { lowWater = null, budgetTokens } = input;
  if (lowWater === null) return budgetTokens;
  const history = leaving.filter(isHistory).flatMap(({ group }) => group.members);
  const beside = totalTokens - history.reduce((sum, block) => sum + boundTokens(block), 0);
  const target = Math.floor(lowWater * budgetTokens);
  return beside <= target ? target : Math.floor(beside + lowWater * Math.max(0, budgetTokens - beside));
}
