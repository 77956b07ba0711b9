import type { Block, BlockSource } from "../block.ts";
import { groupBlocks, isCallGroup, type Group } from "./group.ts";

/** Which groups must stay, and where the open turn begins. */
export interface Protection<B extends Block = Block> {
  readonly groups: readonly Group<B>[];
  readonly isProtected: (group: Group<B>) => boolean;
  /** The current input and everything of the branch after it. */
  readonly isOpenTurn: (group: Group<B>) => boolean;
  /** As `isOpenTurn`, for a block on its own. */
  readonly isOpenTurnBlock: (block: B) => boolean;
}

/**
 * Decides protection by source and mark, never by role. A group with one protected member is protected whole; of the open
 * turn the input and the newest call group are.
 */
export function protect<B extends Block>(blocks: readonly B[]): Protection<B> {
  const groups = groupBlocks(blocks);
  const input = groups.find((group) => group.members.some((block) => block.source === "input"));
  const isOpenTurn = (group: Group<B>): boolean =>
    input !== undefined && group.position >= input.position && isOfBranch(group);
  const newestCallGroup = groups.findLast((group) => isOpenTurn(group) && isCallGroup(group));
  return {
    groups,
    isOpenTurn,
    isOpenTurnBlock: (block) => groups.some((group) => group.members[0] === block && isOpenTurn(group)),
    isProtected: (group) => group === newestCallGroup || group.members.some(isProtectedBlock),
  };
}

function isOfBranch(group: Group): boolean {
  const { source } = group.members[0];
  return source === "history" || source === "input";
}

/** Whether the block itself must stay; its group may protect it further. */
export function isProtectedBlock(block: Pick<Block, "source" | "pinned" | "required">): boolean {
  if (NEVER_PROTECTED.has(block.source)) return false;
  return block.pinned || block.required || ALWAYS_PROTECTED.has(block.source);
}

const NEVER_PROTECTED: ReadonlySet<BlockSource> = new Set(["plugin", "summary"]);
const ALWAYS_PROTECTED: ReadonlySet<BlockSource> = new Set(["system", "character", "persona", "input", "overhead"]);

/** Ids of every block that must stay. */
export function protectedIds(blocks: readonly Block[]): ReadonlySet<string> {
  const protection = protect(blocks);
  const groups = protection.groups.filter((group) => protection.isProtected(group));
  return new Set(groups.flatMap((group) => group.members.map((block) => block.id)));
}
