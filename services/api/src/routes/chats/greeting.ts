import { macroValues, substitute, type Character, type Persona } from "@shiftwork/pipeline";
import type { NewMessage } from "@shiftwork/db";
import { uuidv7 } from "uuidv7";

/**
 * The message a character opens a chat with; its alternate greetings are the other variants of it. `null` when it has
 * none. Macros are resolved here, once: stored history is sent as it stands.
 */
export function greetingOf(character: Omit<Character, "id">, persona: Persona | null): NewMessage | null {
  const values = macroValues({ character: { ...character, id: "" }, persona });
  const texts = [character.firstMessage, ...character.alternateGreetings].filter((text) => text.trim() !== "");
  const [first, ...others] = texts.map((text) => substitute(text, values, { pointer: "/characterId" }));
  if (first === undefined) return null;
  return {
    id: uuidv7(),
    role: "assistant",
    content: first,
    name: character.name,
    toolCalls: [],
    toolCallId: null,
    pinned: false,
    hidden: false,
    meta: {},
    variant: 0,
    alternatives: others.map((content, index) => ({ id: uuidv7(), variant: index + 1, content })),
    createdAt: null,
  };
}
