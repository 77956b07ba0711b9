import type { Character } from "@shiftwork/pipeline";
import { ImportError } from "../errors.ts";
import { readText, readTextList } from "../json/coerce.ts";
import type { WarningCollector } from "../warnings.ts";
import { CARD_TEXT_FIELDS } from "./card-fields.ts";
import type { CardDocument } from "./card-spec.ts";
import { findField } from "./find-field.ts";

/**
 * The character of a card, text unchanged. What is repaired: wrong types, a list written as one text, `null`.
 *
 * @throws ImportError `name_missing` when no name is left.
 */
export function readCharacter(card: CardDocument, warnings: WarningCollector): Omit<Character, "id"> {
  const text = (field: keyof typeof CARD_TEXT_FIELDS): string => {
    const { value, path } = findField(card, CARD_TEXT_FIELDS[field], warnings);
    return readText(value, { warnings, path });
  };
  return {
    name: requireName(text("name")),
    nickname: text("nickname"),
    description: text("description"),
    personality: text("personality"),
    scenario: text("scenario"),
    firstMessage: text("firstMessage"),
    alternateGreetings: readList(card, "alternate_greetings", oneGreeting, warnings),
    messageExamples: text("messageExamples"),
    systemPrompt: text("systemPrompt"),
    postHistoryInstructions: text("postHistoryInstructions"),
    creatorNotes: text("creatorNotes"),
    tags: readList(card, "tags", splitTags, warnings),
    creator: text("creator"),
    characterVersion: text("characterVersion"),
  };
}

function requireName(name: string): string {
  if (name.trim() !== "") return name;
  throw new ImportError("name_missing", "The character has no name.", "Give the character a name.", {
    field: "/data/name",
  });
}

function readList(
  card: CardDocument,
  cardName: string,
  fromText: (text: string) => readonly string[],
  warnings: WarningCollector,
): readonly string[] {
  const { value, path } = findField(card, cardName, warnings);
  return readTextList(value, fromText, { warnings, path });
}

function oneGreeting(text: string): readonly string[] {
  return text.trim() === "" ? [] : [text];
}

function splitTags(text: string): readonly string[] {
  return text
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
}
