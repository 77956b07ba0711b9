import type { Conversation, LoreEntry } from "../conversation.ts";
import { AssemblyInputError } from "../errors.ts";
import { candidates } from "../lorebook/candidates.ts";
import { readDecorators } from "../lorebook/decorators.ts";
import { substitute } from "../macros/substitute.ts";
import { macroValues, type MacroValues } from "../macros/values.ts";
import type { AssemblySettings } from "../settings.ts";
import { select } from "../stages/select.ts";
import { newestText } from "./recent-text.ts";
import { normalisedText } from "./vectors.ts";

/** The texts an assembly can use a vector of, each as `normalisedText`, once, none blank. */
export interface RecallTexts {
  /** What the user and the assistant said last. */
  readonly question: readonly string[];
  /** What may be recalled by it. */
  readonly texts: readonly string[];
}

/**
 * What a host brings vectors for in `AssemblyInput.recall`. Lore counts under the strategy that ranks it; a conversation
 * with nothing to recall has no question either.
 */
export function recallTexts(
  conversation: Conversation,
  settings: Pick<AssemblySettings, "action" | "contextStrategy">,
): RecallTexts {
  const lore = settings.contextStrategy === "vector-recall" ? loreTexts(conversation) : [];
  const texts = distinct([...conversation.memories.map(({ content }) => content), ...lore]);
  if (texts.length === 0) return { question: [], texts };
  const { blocks } = select({ conversation, settings });
  return { question: distinct([newestText(blocks, "user"), newestText(blocks, "assistant")]), texts };
}

function loreTexts(conversation: Conversation): readonly string[] {
  const values = macroValues(conversation);
  const enabled = candidates(conversation.lorebooks).filter(({ entry }) => entry.enabled);
  return enabled.flatMap(({ entry }) => sentText(entry, values) ?? []);
}

/** `null` = its macros outgrow every bound. That is an error once the entry is activated, and none before. */
function sentText({ content }: LoreEntry, values: MacroValues): string | null {
  try {
    return substitute(readDecorators(content).content, values);
  } catch (error) {
    if (error instanceof AssemblyInputError) return null;
    throw error;
  }
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts.map(normalisedText))].filter((text) => text !== "");
}
