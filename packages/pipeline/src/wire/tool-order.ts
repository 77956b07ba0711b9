import type { Block } from "../block.ts";

/**
 * Moves every tool result directly behind its call, as chat providers demand, keeping the results' own order. Blocks in
 * between (another speaker, a plugin's addition) follow after. Returns `blocks` itself when nothing has to move.
 */
export function placeResultsBehindCalls<B extends Pick<Block, "role" | "toolCallId" | "groupId">>(
  blocks: readonly B[],
): readonly B[] {
  const resultsOf = new Map<string, B[]>();
  for (const block of blocks) {
    if (block.role !== "tool" || block.groupId === null) continue;
    const results = resultsOf.get(block.groupId);
    if (results === undefined) resultsOf.set(block.groupId, [block]);
    else results.push(block);
  }
  const placed: B[] = [];
  for (const block of blocks) {
    if (block.groupId === null) placed.push(block);
    else if (block.role !== "tool") placed.push(block, ...(resultsOf.get(block.groupId) ?? []));
  }
  return placed.every((block, index) => block === blocks[index]) ? blocks : placed;
}
