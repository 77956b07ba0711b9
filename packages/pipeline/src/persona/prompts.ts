import type { Conversation } from "../conversation.ts";
import { field } from "../macros/field.ts";
import { substitute } from "../macros/substitute.ts";
import type { MacroValues } from "../macros/values.ts";
import type { AssemblySettings } from "../settings.ts";

/** The main prompt of a chat with a character, when neither tenant nor character gives one. */
const DEFAULT_MAIN_PROMPT =
  "You are {{char}}, in conversation with {{user}}. Reply as {{char}} would, in character and in keeping with everything below. Never speak or act for {{user}}.";

/** The same without a character, so that no chat goes without a main prompt. */
const DEFAULT_MAIN_PROMPT_WITHOUT_CHARACTER =
  "You are a helpful, attentive assistant in conversation with {{user}}. Answer the latest message, using what is given below where it helps.";

/** A resolved prompt and whose wording it is. */
export interface ResolvedPrompt {
  readonly content: string;
  readonly from: "default" | "tenant" | "character";
}

type PromptSource = Pick<Conversation, "character">;

/**
 * Main prompt: the character's `systemPrompt`, else the tenant's, else the built-in one. `{{original}}` inserts the text
 * the field replaces. A blank field counts as absent.
 */
export function mainPrompt(
  { character }: PromptSource,
  settings: AssemblySettings,
  values: MacroValues,
): ResolvedPrompt {
  const builtIn = character === null ? DEFAULT_MAIN_PROMPT_WITHOUT_CHARACTER : DEFAULT_MAIN_PROMPT;
  return replaceInTurn(substitute(builtIn, values), values, [
    { from: "tenant", text: settings.mainPrompt, pointer: "/settings/mainPrompt" },
    { from: "character", text: character?.systemPrompt, pointer: "/character/systemPrompt" },
  ]);
}

/** Instructions after the history: the character's, else the tenant's, else none (`content` is then empty). */
export function postHistoryPrompt(
  { character }: PromptSource,
  settings: AssemblySettings,
  values: MacroValues,
): ResolvedPrompt {
  return replaceInTurn("", values, [
    { from: "tenant", text: settings.postHistoryInstructions, pointer: "/settings/postHistoryInstructions" },
    { from: "character", text: character?.postHistoryInstructions, pointer: "/character/postHistoryInstructions" },
  ]);
}

interface Replacement {
  readonly from: ResolvedPrompt["from"];
  readonly text: string | null | undefined;
  readonly pointer: string;
}

function replaceInTurn(start: string, values: MacroValues, replacements: readonly Replacement[]): ResolvedPrompt {
  let prompt: ResolvedPrompt = { content: start, from: "default" };
  for (const { from, text, pointer } of replacements) {
    const written = text?.trim() ?? "";
    if (written === "") continue;
    prompt = { content: field(written, values, { original: prompt.content, pointer }), from };
  }
  return prompt;
}
