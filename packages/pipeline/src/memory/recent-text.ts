import type { Block, Role } from "../block.ts";

/** What a role said last in the branch; `""` = nothing. */
export function newestText(blocks: readonly Block[], role: Role): string {
  const found = blocks.findLast(
    (block) =>
      (block.source === "history" || block.source === "input") && block.role === role && block.content.trim() !== "",
  );
  return found?.content ?? "";
}
