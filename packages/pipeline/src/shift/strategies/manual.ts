import type { Block } from "../../block.ts";
import type { Leaving } from "../drop-until-fits.ts";
import { fit } from "../fit.ts";
import { protect } from "../protection.ts";
import { builtIn, type ShiftInput } from "../strategy.ts";
import { truncate } from "./truncate.ts";

/**
 * As `truncate`, but groups with a message that a person marked `manualExcluded` leave first, even when everything
 * fits. Protection wins over the mark.
 */
export const manual = builtIn({
  id: "manual",
  params: truncate.params,
  oldHistory: "ignored",
  leavesAnyway: isMarked,
  leavingOrder(input) {
    const marked = markedGroups(input);
    const groups = new Set(marked.map(({ group }) => group.members[0]));
    return [...marked, ...truncate.leavingOrder(input).filter(({ group }) => !groups.has(group.members[0]))];
  },
  plan: (input, context) => fit(input, manual.leavingOrder(input), context),
});

function markedGroups({ blocks }: ShiftInput): readonly Leaving[] {
  const { groups, isProtected } = protect(blocks);
  return groups
    .filter((group) => group.members.some(isMarked) && !isProtected(group))
    .map((group) => ({ group, reason: "manual_excluded", always: true }));
}

function isMarked(block: Pick<Block, "manualExcluded">): boolean {
  return block.manualExcluded === true;
}
