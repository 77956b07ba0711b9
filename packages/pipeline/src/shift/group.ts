import type { Block } from "../block.ts";

/** Blocks that stay or leave together: a message with calls and all its results, an example dialogue, else one block. */
export interface Group<B extends Block = Block> {
  /** The blocks' shared `groupId`; `null` for a block on its own. */
  readonly groupId: string | null;
  /** In prompt order; at least one. */
  readonly members: readonly [B, ...B[]];
  /** Place of the first member in the prompt. */
  readonly position: number;
}

/** Groups in the order of their first members. */
export function groupBlocks<B extends Block>(blocks: readonly B[]): readonly Group<B>[] {
  const membersOf = new Map<string, [B, ...B[]]>();
  const groups: Group<B>[] = [];
  blocks.forEach((block, position) => {
    const known = block.groupId === null ? undefined : membersOf.get(block.groupId);
    if (known !== undefined) {
      known.push(block);
      return;
    }
    const members: [B, ...B[]] = [block];
    if (block.groupId !== null) membersOf.set(block.groupId, members);
    groups.push({ groupId: block.groupId, members, position });
  });
  return groups;
}

/** Whether the group is a message with calls and its results. */
export function isCallGroup(group: Group): boolean {
  return group.members.some((block) => block.toolCalls.length > 0);
}
