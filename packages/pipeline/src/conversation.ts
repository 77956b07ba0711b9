import type { Role, ToolCall } from "./block.ts";

/** A character as the prompt sees it. Field names follow card spec V3, camelCased; absent text is `""`. */
export interface Character {
  readonly id: string;
  readonly name: string;
  /** V3 nickname; replaces `name` in `{{char}}` when not empty. */
  readonly nickname: string;
  readonly description: string;
  readonly personality: string;
  readonly scenario: string;
  readonly firstMessage: string;
  readonly alternateGreetings: readonly string[];
  /** Example dialogues; units begin with `<START>`. */
  readonly messageExamples: string;
  /** Replaces the main prompt; `{{original}}` inserts what it replaced. */
  readonly systemPrompt: string;
  /** Sent after the history; `{{original}}` inserts the tenant's own. */
  readonly postHistoryInstructions: string;
  readonly creatorNotes: string;
  readonly tags: readonly string[];
  readonly creator: string;
  readonly characterVersion: string;
}

/** Who the user is in this chat. */
export interface Persona {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

export const SELECTIVE_LOGICS = ["and_any", "not_all", "not_any", "and_all"] as const;
export type SelectiveLogic = (typeof SELECTIVE_LOGICS)[number];

export const LORE_POSITIONS = [
  "before_character",
  "after_character",
  "author_note_top",
  "author_note_bottom",
  "at_depth",
  "before_examples",
  "after_examples",
  "outlet",
] as const;
export type LorePosition = (typeof LORE_POSITIONS)[number];

/** One lorebook entry: the world-info superset. `null` = inherit the book's or the global setting. */
export interface LoreEntry {
  readonly id: string;
  readonly uid: number;
  readonly title: string;
  readonly keys: readonly string[];
  readonly secondaryKeys: readonly string[];
  readonly selective: boolean;
  readonly selectiveLogic: SelectiveLogic;
  readonly content: string;
  readonly constant: boolean;
  readonly enabled: boolean;
  /** Never refused by the lore budget; `null` = as `constant`. */
  readonly required: boolean | null;
  readonly order: number;
  readonly position: LorePosition;
  readonly depth: number;
  readonly role: "system" | "user" | "assistant";
  readonly outletName: string;
  /** Percent, 0..100; read only when `useProbability`. */
  readonly probability: number;
  readonly useProbability: boolean;
  readonly scanDepth: number | null;
  readonly caseSensitive: boolean | null;
  readonly matchWholeWords: boolean | null;
  readonly ignoreBudget: boolean;
  /** Generation actions this entry answers to; empty = all. */
  readonly triggers: readonly string[];
  readonly characterFilter: {
    readonly exclude: boolean;
    readonly names: readonly string[];
    readonly tags: readonly string[];
  };
}

export const WORD_BOUNDARIES = ["unicode", "ascii"] as const;

export interface Lorebook {
  readonly id: string;
  readonly name: string;
  /** Where it is bound. A book bound twice is read once: global > chat > persona > character. */
  readonly binding: "global" | "chat" | "persona" | "character";
  readonly scanDepth: number | null;
  readonly budgetTokens: number | null;
  /** `ascii` imitates the reference (imported books), `unicode` respects every script (books made here). */
  readonly wordBoundaries: (typeof WORD_BOUNDARIES)[number];
  readonly entries: readonly LoreEntry[];
}

export interface Memory {
  readonly id: string;
  readonly content: string;
  readonly pinned: boolean;
  /** The message this was distilled from; while that is in the prompt the memory stays out. */
  readonly sourceMessageId: string | null;
  readonly createdAt: string;
}

/** A stored message of the active branch, oldest first. */
export interface ChatMessage {
  /** `null` only for a message that is not stored yet (a preview's draft). */
  readonly id: string | null;
  readonly seq: number;
  readonly role: Role;
  readonly content: string;
  /** Speaker at the time; shown and scanned, sent only as far as the wire shape allows. */
  readonly name: string | null;
  readonly toolCalls: readonly ToolCall[];
  readonly toolCallId: string | null;
  readonly pinned: boolean;
  /** Never sent, never scanned. */
  readonly hidden: boolean;
  /** A system row that may leave when the window is full (an imported narrator's); other system rows are protected. */
  readonly optional: boolean;
  /** A failed reply's text: shown, never sent. */
  readonly failedPartial: boolean;
  /** Marked by a person to be left out (`meta.manualExcluded`); only the strategy `manual` reads it. */
  readonly manualExcluded?: boolean;
}

/** Everything a prompt is made of. Loaded once, by one query module, for worker and preview alike. */
export interface Conversation {
  readonly chatId: string;
  readonly character: Character | null;
  readonly persona: Persona | null;
  readonly lorebooks: readonly Lorebook[];
  readonly memories: readonly Memory[];
  /** The active branch up to and including the current input, oldest first; without what `earlier` stands for. */
  readonly messages: readonly ChatMessage[];
  /** Messages too old to stay under the strategy, left unloaded (`historyWindow`); absent = `messages` is everything. */
  readonly earlier?: readonly EarlierMessages[];
}

/** Neighbours in the branch that were not loaded: none of `messages` stands between them. */
export interface EarlierMessages {
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly count: number;
}
