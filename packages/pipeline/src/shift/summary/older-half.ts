import { dropUntilFits } from "../drop-until-fits.ts";
import { groupBlocks } from "../group.ts";
import { protect } from "../protection.ts";
import { truncate } from "../strategies/truncate.ts";
import type { MeasuredBlock, ShiftInput } from "../strategy.ts";
import { coveredId } from "./summary-block.ts";

/** The part of the history that a model may summarise. */
export interface OlderHalf {
  /** n: messages of the branch without the input and system rows. */
  readonly messages: number;
  /** T: what they cost together. */
  readonly tokens: number;
  /** The older half without what is protected, oldest first. */
  readonly covered: readonly MeasuredBlock[];
}

/**
 * The older half of the branch: its first floor(n / 2) messages, the border moved to the nearest place that splits no
 * group (of two equally near the earlier; never so far that nothing is left). With `lowWater` the border stays at the
 * anchor while all from there on fits beside `summaryTokens`; else it moves on to the low-water mark if that is later.
 */
export function olderHalf(input: ShiftInput, summaryTokens: number): OlderHalf {
  const { blocks } = input;
  const spoken = blocks.filter((block) => block.source === "history" && block.role !== "system");
  const tokens = spoken.reduce((sum, block) => sum + (block.tokens ?? 0), 0);
  const half = Math.floor(spoken.length / 2);
  const border = nearestBorder(spoken, lastingBorder(input, spoken, half, summaryTokens));
  const { groups, isProtected } = protect(blocks);
  const locked = new Set(groups.filter((group) => isProtected(group)).flatMap((group) => group.members));
  const covered = spoken.slice(0, border).filter((block) => !locked.has(block));
  return { messages: spoken.length, tokens, covered };
}

function lastingBorder(
  input: ShiftInput,
  spoken: readonly MeasuredBlock[],
  half: number,
  summaryTokens: number,
): number {
  if ((input.lowWater ?? null) === null) return half;
  const beside = { ...input, budgetTokens: Math.max(0, input.budgetTokens - summaryTokens) };
  const { kept } = dropUntilFits(beside, truncate.leavingOrder(input));
  const { groups, isProtected } = protect<MeasuredBlock>(kept);
  const oldest = groups.find((group) => group.members[0].source === "history" && !isProtected(group))?.members[0];
  const cut = oldest === undefined ? half : spoken.findIndex((block) => block.id === oldest.id);
  const stays = oldest !== undefined && coveredId(oldest) === input.anchorId;
  return stays ? cut : Math.max(half, cut);
}

function nearestBorder(spoken: readonly MeasuredBlock[], place: number): number {
  const indexOf = new Map(spoken.map((block, index) => [block, index]));
  const splits = new Set<number>();
  for (const { members, position } of groupBlocks(spoken)) {
    const last = indexOf.get(members.at(-1) ?? members[0]) ?? position;
    for (let split = position + 1; split <= last; split += 1) splits.add(split);
  }
  for (let distance = 0; distance <= spoken.length; distance += 1) {
    for (const border of [place - distance, place + distance]) {
      if (border > 0 && border <= spoken.length && !splits.has(border)) return border;
    }
  }
  return 0;
}
