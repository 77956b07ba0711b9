import type { InstructFormatId } from "./template/formats.ts";

/** Generation actions; `impersonate`, `continue`, `swipe` and `regenerate` select lore triggers, `reply` is the plain turn. */
export const ACTIONS = ["reply", "continue", "regenerate", "swipe", "impersonate"] as const;
export type Action = (typeof ACTIONS)[number];

/** A tool the model may call, in the OpenAI shape. Its schema is counted as `overhead`. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string | null;
  /** JSON Schema of the arguments. */
  readonly parameters: { readonly [key: string]: unknown };
}

/** Samplers sent on as given; absent = the provider's default. */
export interface SamplingParameters {
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly presencePenalty?: number | undefined;
  /** Where the reply ends; a request holds four, in text mode the instruct format's among them. */
  readonly stop?: readonly string[] | undefined;
  readonly seed?: number | undefined;
  /** Passed through unread. */
  readonly extra?: { readonly [key: string]: unknown } | undefined;
}

/** What the caller asked for; unset = derive it (`resolveBudget`). */
export interface BudgetRequest {
  readonly contextLimit?: number | undefined;
  readonly reservedForReply?: number | undefined;
}

/** What is known of a model: from the provider's settings, else from the built-in table; `null` = unknown. */
export interface ModelFacts {
  readonly contextLimit: number | null;
  readonly maxOutputTokens: number | null;
}

export interface LorebookSettings {
  /** Messages scanned, newest first. Default 2. */
  readonly scanDepth: number;
  /** Prefix scanned messages with "Name: ". Default true. */
  readonly includeNames: boolean;
  /** Share of the prompt budget, percent. Default 25. */
  readonly budgetPercent: number;
  /** Upper bound in tokens; 0 = none. Default 0. */
  readonly budgetCapTokens: number;
  /** Default false. */
  readonly caseSensitive: boolean;
  /** Default true. */
  readonly matchWholeWords: boolean;
}

export interface MemorySettings {
  /** Share of the prompt budget, percent. Default 15. */
  readonly budgetPercent: number;
  /** At most this many. Default 8. */
  readonly topK: number;
  /** 0..1, relative to the best match. Default 0.2. */
  readonly minimumScore: number;
}

/** The provider's request: chat messages, or one prompt string rendered with an instruct format. */
export type WireSettings = { readonly shape: "chat" } | { readonly shape: "text"; readonly format: InstructFormatId };

/**
 * What is done to chat messages for providers that refuse some. `merge` joins neighbours of one role, `semi` also turns
 * later system messages into the user's, `strict` also has a user message first, `single` sends one user message.
 * Tool calls become text, except under `…_tools`. Source of the modes: SillyTavern's prompt post-processing.
 */
export const POST_PROCESSING = [
  "none",
  "merge",
  "merge_tools",
  "semi",
  "semi_tools",
  "strict",
  "strict_tools",
  "single",
] as const;
export type PostProcessing = (typeof POST_PROCESSING)[number];

export interface AssemblySettings {
  readonly action: Action;
  readonly model: string;
  readonly modelFacts: ModelFacts;
  readonly budget: BudgetRequest;
  readonly parameters: SamplingParameters;
  readonly tools: readonly ToolDefinition[];
  /** Default: chat completions. */
  readonly wire?: WireSettings | undefined;
  /** Of chat messages only. Default `none`. */
  readonly postProcessing?: PostProcessing | undefined;
  readonly contextStrategy: string;
  readonly strategyOptions: { readonly [key: string]: unknown };
  /** Replaces the built-in main prompt; a character's `systemPrompt` replaces both. */
  readonly mainPrompt: string | null;
  readonly postHistoryInstructions: string | null;
  readonly lorebook: LorebookSettings;
  readonly memory: MemorySettings;
  /** Seeds every random choice. Default: `defaultSeed(chatId, parentMessageId)`. */
  readonly seed: string;
  /** RFC 3339 UTC; the only clock a prompt may read. */
  readonly now: string;
}

export const DEFAULT_LOREBOOK_SETTINGS: LorebookSettings = {
  scanDepth: 2,
  includeNames: true,
  budgetPercent: 25,
  budgetCapTokens: 0,
  caseSensitive: false,
  matchWholeWords: true,
};

export const DEFAULT_MEMORY_SETTINGS: MemorySettings = { budgetPercent: 15, topK: 8, minimumScore: 0.2 };
