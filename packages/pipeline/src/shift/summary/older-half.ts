import { groupBlocks } from "../group.ts";
import { protect } from "../protection.ts";
import type { MeasuredBlock } from "../strategy.ts";

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
 * group (of two equally near the earlier; never so far that nothing is left).
 */
export function olderHalf(blocks: readonly MeasuredBlock[]): OlderHalf {
  const spoken = blocks.filter((block) => block.source === "history" && block.role !== "system");
  const tokens = spoken.reduce((sum, block) => sum + (block.tokens ?? 0), 0);
  const border = nearestBorder(spoken, Math.floor(spoken.length / 2));
  const { groups, isProtected } = protect(blocks);
  const locked = new Set(groups.filter((group) => isProtected(group)).flatMap((group) => group.members));
  const covered = spoken.slice(0, border).filter((block) => !locked.has(block));
  return { messages: spoken.length, tokens, covered };
}

function nearestBorder(spoken: readonly MeasuredBlock[], half: number): number {
  const indexOf = new Map(spoken.map((block, index) => [block, index]));
  const splits = new Set<number>();
  for (const { members, position } of groupBlocks(spoken)) {
    const last = indexOf.get(members.at(-1) ?? members[0]) ?? position;
    for (let place = position + 1; place <= last; place += 1) splits.add(place);
  }
  for (let distance = 0; distance <= spoken.length; distance += 1) {
    for (const place of [half - distance, half + distance]) {
      if (place > 0 && place <= spoken.length && !splits.has(place)) return place;
    }
  }
  return 0;
}
