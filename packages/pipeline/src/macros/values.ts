import type { Conversation } from "../conversation.ts";

/** What the macros of a conversation stand for. Inserted literally, never scanned again. */
export interface MacroValues {
  /** `{{user}}`: the persona's name, else `User`. */
  readonly user: string;
  /** `{{char}}`: the character's nickname, else its name, else `Assistant`. */
  readonly char: string;
}

const DEFAULT_USER = "User";
const DEFAULT_CHAR = "Assistant";

/** The names a conversation's macros stand for. Blank names count as absent. */
export function macroValues(conversation: Pick<Conversation, "character" | "persona">): MacroValues {
  const { character, persona } = conversation;
  return {
    user: persona?.name.trim() || DEFAULT_USER,
    char: character?.nickname.trim() || character?.name.trim() || DEFAULT_CHAR,
  };
}
