import type { ExcludedReason, IncludedReason, ReasonDetail } from "./reasons.ts";

/** Where a block comes from. Protection follows the source, never the role (`reasons.ts` says why a block stays or goes). */
export const BLOCK_SOURCES = [
  "system",
  "character",
  "persona",
  "lorebook",
  "memory",
  "example",
  "history",
  "input",
  "summary",
  "template",
  "plugin",
  "overhead",
] as const;
export type BlockSource = (typeof BLOCK_SOURCES)[number];

export const ROLES = ["system", "user", "assistant", "tool"] as const;
export type Role = (typeof ROLES)[number];

/** A call the model made. `arguments` is the JSON text exactly as the model wrote it. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** The stages in the order they run; `build-prompt.ts` holds the functions. */
export const STAGE_NAMES = [
  "select",
  "persona",
  "lorebook",
  "memory",
  "template",
  "tokenize",
  "shift",
  "intercept",
  "recount",
  "serialize",
  "verify",
] as const;
export type StageName = (typeof STAGE_NAMES)[number];

/**
 * The unit of assembly, counting, fitting and audit. One block becomes one message on the wire, so counts are additive.
 * `id` is unique within one assembly (`msg:<message id>`, `lore:<entry id>`, `character:description`, …);
 * `refId` names the stored row the text came from, if there is one.
 */
export interface Block {
  readonly id: string;
  readonly source: BlockSource;
  readonly role: Role;
  readonly content: string;
  readonly name: string | null;
  readonly toolCalls: readonly ToolCall[];
  readonly toolCallId: string | null;
  readonly pinned: boolean;
  readonly required: boolean;
  /** 0..1; `null` counts as 0 wherever blocks are ranked. */
  readonly relevance: number | null;
  readonly refId: string | null;
  /** What a person calls it in a list: the lore entry's title, the field's name, the speaker. */
  readonly label: string;
  /** Position in the branch for history and input, else `null`. */
  readonly seq: number | null;
  /** Blocks that stay or leave together share one; `null` until grouped. */
  readonly groupId: string | null;
  /** Marked by a person to be left out; only the strategy `manual` reads it. */
  readonly manualExcluded?: boolean;
  readonly stage: StageName;
  readonly reason: IncludedReason;
  readonly reasonDetail: ReasonDetail | null;
}

/** A block with the whole cost of its wire message: framing, name, text and calls. */
export interface CountedBlock extends Block {
  readonly tokens: number;
  /** The cost before the text was shortened; absent = it was not. */
  readonly originalTokens?: number;
}

/**
 * A block that was considered and is not in the prompt. `tokens: null` = not counted; `tokensUpperBound` (UTF-8 bytes
 * plus framing) then bounds it.
 */
export interface LeftOutBlock {
  readonly block: Omit<Block, "reason" | "reasonDetail" | "stage">;
  readonly stage: StageName;
  readonly reason: ExcludedReason;
  readonly reasonDetail: ReasonDetail | null;
  readonly tokens: number | null;
}
