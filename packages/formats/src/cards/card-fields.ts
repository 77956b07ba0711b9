import type { Character } from "@shiftwork/pipeline";
import type { CardSpec } from "./card-spec.ts";

type TextField = {
  [Field in keyof Character]: Character[Field] extends string ? Field : never;
}[Exclude<keyof Character, "id">];

/** The text fields of a character and their names in card specification V1, V2 and V3. */
export const CARD_TEXT_FIELDS: { readonly [field in TextField]: string } = {
  name: "name",
  nickname: "nickname",
  description: "description",
  personality: "personality",
  scenario: "scenario",
  firstMessage: "first_mes",
  messageExamples: "mes_example",
  systemPrompt: "system_prompt",
  postHistoryInstructions: "post_history_instructions",
  creatorNotes: "creator_notes",
  creator: "creator",
  characterVersion: "character_version",
};

/** What Pygmalion and TextGen files call the fields they have. */
const PYGMALION_NAMES: { readonly [cardName: string]: string } = {
  name: "char_name",
  description: "char_persona",
  first_mes: "char_greeting",
  mes_example: "example_dialogue",
  scenario: "world_scenario",
};

/** Every name a field may have in a card of this kind, the ruling one first. */
export function spellingsOf(cardName: string, spec: CardSpec): readonly string[] {
  const spellings = [cardName];
  if (cardName === "creator_notes") spellings.push("creatorcomment");
  const pygmalion = spec === "pygmalion" ? PYGMALION_NAMES[cardName] : undefined;
  return pygmalion === undefined ? spellings : [pygmalion, ...spellings];
}
