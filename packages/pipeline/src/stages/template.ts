import type { Block, LeftOutBlock } from "../block.ts";
import type { StageBlocks } from "./select.ts";

/**
 * The default order of a prompt: main prompt, lore before the character, persona, character, lore after it, examples,
 * memories, history with the input, post-history instructions. Source: SillyTavern's default prompt order, with
 * memories after the examples.
 */
const DEFAULT_ORDER = [
  "main",
  "lore_before_character",
  "persona",
  "description",
  "personality",
  "scenario",
  "character",
  "lore_after_character",
  "template",
  "examples",
  "memory",
  "history",
  "post_history",
] as const;
type Slot = (typeof DEFAULT_ORDER)[number];

/**
 * Puts the blocks in the default order; within a slot they stay in the order they came in. One block becomes one wire
 * message, so counts add up. Blank blocks (a field whose macros gave nothing) are left out as `empty`.
 */
export function template(input: { readonly blocks: readonly Block[] }): StageBlocks {
  const filled = input.blocks.filter((block) => !isBlank(block));
  const blank = input.blocks.filter(isBlank);
  const bySlot = filled
    .map((block) => ({ block, rank: DEFAULT_ORDER.indexOf(slotOf(block)) }))
    .toSorted((a, b) => a.rank - b.rank);
  return { blocks: bySlot.map(({ block }) => block), leftOut: blank.map(leaveOut) };
}

function isBlank(block: Block): boolean {
  return block.content.trim() === "" && block.toolCalls.length === 0 && block.role !== "tool";
}

function slotOf(block: Block): Slot {
  switch (block.source) {
    case "system":
      return block.id === "system:post_history" ? "post_history" : "main";
    case "character":
      return characterSlot(block.id);
    case "lorebook":
      return block.reasonDetail?.["position"] === "before_character" ? "lore_before_character" : "lore_after_character";
    case "example":
      return "examples";
    case "persona":
    case "memory":
    case "template":
      return block.source;
    case "history":
    case "input":
    case "summary":
    case "plugin":
    case "overhead":
      return "history";
  }
}

function characterSlot(id: string): Slot {
  if (id === "character:description") return "description";
  if (id === "character:personality") return "personality";
  return id === "character:scenario" ? "scenario" : "character";
}

function leaveOut(block: Block): LeftOutBlock {
  return { block, stage: "template", reason: "empty", reasonDetail: null, tokens: null };
}
