import type { Block } from "../../block.ts";
import { groupBlocks } from "../group.ts";

/** A summary as a block beside the others: system role, unprotected, naming what it covers. */
export function summaryBlock(content: string, covers: readonly string[], beside: readonly Block[]): Block {
  const taken = new Set(beside.map((block) => block.id));
  let number = 1;
  while (taken.has(`summary:${number}`)) number += 1;
  return {
    id: `summary:${number}`,
    source: "summary",
    role: "system",
    content,
    name: null,
    toolCalls: [],
    toolCallId: null,
    pinned: false,
    required: false,
    relevance: null,
    refId: null,
    label: "Summary",
    seq: null,
    groupId: null,
    stage: "shift",
    reason: "summary",
    reasonDetail: { covers },
  };
}

/** The ids a summary block says it covers. */
export function coveredBy(summary: Block): readonly string[] {
  const covers = summary.reasonDetail?.["covers"];
  return Array.isArray(covers) ? covers.filter((id) => typeof id === "string") : [];
}

/** Ids a block is known by outside: the stored row's, else its own. */
export function coveredId(block: Pick<Block, "id" | "refId">): string {
  return block.refId ?? block.id;
}

/** The nearest place at or before `place` (an index of `blocks`) that is not between a call and its results. */
export function placeOutsideGroups(blocks: readonly Block[], place: number): number {
  const indexOf = new Map(blocks.map((block, index) => [block, index]));
  const spans = groupBlocks(blocks)
    .filter(({ members }) => members.length > 1)
    .map(({ members, position }) => ({ first: position, last: indexOf.get(members.at(-1) ?? members[0]) ?? position }))
    .toSorted((a, b) => b.first - a.first);
  return spans.reduce((at, { first, last }) => (first < at && at <= last ? first : at), place);
}
