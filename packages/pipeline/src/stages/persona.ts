import type { Block, LeftOutBlock } from "../block.ts";
import type { Character, Conversation } from "../conversation.ts";
import { field } from "../macros/field.ts";
import { macroValues, type MacroValues } from "../macros/values.ts";
import { exampleUnits, type ExampleMessage } from "../persona/examples.ts";
import { mainPrompt, postHistoryPrompt, type ResolvedPrompt } from "../persona/prompts.ts";
import type { ReasonDetail } from "../reasons.ts";
import type { AssemblySettings } from "../settings.ts";

/**
 * Character, persona and the prompts around them as blocks, in the order they usually stand: `system:main`,
 * `persona:description`, `character:description`, `character:personality`, `character:scenario`, `example:<n>`,
 * `system:post_history`. A blank field makes no block. Description goes in as written; persona, personality and scenario
 * are introduced by a few words (`About Max: …`, `Seraphina's personality: …`, `Scenario: …`), as nothing else tells
 * the model whose they are. Throws `AssemblyInputError` when macros make a field too long.
 */
export function persona(input: { readonly conversation: Conversation; readonly settings: AssemblySettings }): {
  readonly blocks: readonly Block[];
  readonly leftOut: readonly LeftOutBlock[];
} {
  const { conversation, settings } = input;
  const values = macroValues(conversation);
  const { character } = conversation;
  const characterId = character?.id ?? null;
  const blocks = [
    promptBlock("system:main", "Main prompt", mainPrompt(conversation, settings, values), characterId),
    ...personaBlocks(conversation, values),
    ...(character === null ? [] : characterBlocks(character, values)),
    promptBlock(
      "system:post_history",
      "Post-history instructions",
      postHistoryPrompt(conversation, settings, values),
      characterId,
    ),
  ];
  return { blocks: blocks.filter((block) => block.content !== ""), leftOut: [] };
}

function promptBlock(id: string, label: string, prompt: ResolvedPrompt, characterId: string | null): Block {
  const refId = prompt.from === "character" ? characterId : null;
  return textBlock({
    id,
    source: "system",
    label,
    content: prompt.content,
    refId,
    reasonDetail: { from: prompt.from },
  });
}

function personaBlocks({ persona: user }: Conversation, values: MacroValues): readonly Block[] {
  if (user === null) return [];
  const text = field(user.description, values, { pointer: "/persona/description" });
  const content = introduce(`About ${values.user}: `, text);
  return [textBlock({ id: "persona:description", source: "persona", label: "Persona", content, refId: user.id })];
}

function characterBlocks(character: Character, values: MacroValues): readonly Block[] {
  const described = (name: "description" | "personality" | "scenario", label: string, introduction: string) => {
    const text = field(character[name], values, { pointer: `/character/${name}` });
    const content = introduce(introduction, text);
    return textBlock({ id: `character:${name}`, source: "character", label, content, refId: character.id });
  };
  return [
    described("description", "Description", ""),
    described("personality", "Personality", `${values.char}'s personality: `),
    described("scenario", "Scenario", "Scenario: "),
    ...exampleUnits(character.messageExamples, values)
      .flatMap((messages, unit) => messages.map((message) => ({ message, unit })))
      .map(({ message, unit }, index) => exampleBlock(message, index, unit, character.id)),
  ];
}

function exampleBlock(message: ExampleMessage, index: number, unit: number, characterId: string): Block {
  return {
    ...textBlock({
      id: `example:${index + 1}`,
      source: "example",
      label: `Example ${unit + 1}`,
      content: message.content,
      refId: characterId,
    }),
    name: message.name,
    groupId: `examples:${unit + 1}`,
  };
}

function introduce(introduction: string, text: string): string {
  return text === "" ? "" : introduction + text;
}

function textBlock(part: {
  readonly id: string;
  readonly source: "system" | "persona" | "character" | "example";
  readonly label: string;
  readonly content: string;
  readonly refId: string | null;
  readonly reasonDetail?: ReasonDetail;
}): Block {
  return {
    reasonDetail: null,
    ...part,
    role: "system",
    name: null,
    toolCalls: [],
    toolCallId: null,
    pinned: false,
    required: false,
    relevance: null,
    seq: null,
    groupId: null,
    stage: "persona",
    reason: part.source,
  };
}
