import { describe, expect, it } from "vitest";
import type { Character, Persona } from "../conversation.ts";
import { aCharacter, aConversation, theSettings } from "../testing/conversation.ts";
import type { AssemblySettings } from "../settings.ts";
import { persona } from "./persona.ts";

const max: Persona = { id: "pers_1", name: "Max", description: "A smith. Friend of {{char}}." };

function run(
  character: Partial<Character> | null,
  settings: Partial<AssemblySettings> = {},
  user: Persona | null = max,
) {
  const conversation = aConversation([], {
    character: character === null ? null : aCharacter(character),
    persona: user,
  });
  return persona({ conversation, settings: theSettings(settings) });
}

function contents(result: ReturnType<typeof run>): Readonly<Record<string, string>> {
  return Object.fromEntries(result.blocks.map(({ id, content }) => [id, content]));
}

describe("persona stage", () => {
  it("makes one block per field, in their usual order, with macros replaced", () => {
    const result = run({
      description: "{{char}} keeps the lighthouse.",
      postHistoryInstructions: "Keep it short, {{user}}.",
    });
    expect(result.blocks.map(({ id, source, role }) => [id, source, role])).toEqual([
      ["system:main", "system", "system"],
      ["persona:description", "persona", "system"],
      ["character:description", "character", "system"],
      ["character:personality", "character", "system"],
      ["character:scenario", "character", "system"],
      ["system:post_history", "system", "system"],
    ]);
    expect(contents(result)).toMatchObject({
      "persona:description": "About Max: A smith. Friend of Mira.",
      "character:description": "Mira keeps the lighthouse.",
      "character:personality": "Mira's personality: calm",
      "character:scenario": "Scenario: A storm is coming.",
      "system:post_history": "Keep it short, Max.",
    });
    expect(result.leftOut).toEqual([]);
  });

  it("has a main prompt without a character, which speaks of none", () => {
    const [main, ...rest] = run(null, {}, null).blocks;
    expect(main?.id).toBe("system:main");
    expect(main?.content).toContain("User");
    expect(main?.content).not.toMatch(/Assistant|\{\{/);
    expect(rest).toEqual([]);
  });

  it("lets the character's prompt replace the tenant's, the tenant's the built-in one, each with the original", () => {
    const builtIn = contents(run({}))["system:main"] ?? "";
    const tenant = { mainPrompt: "T[{{original}}]" };
    expect(contents(run({}, tenant))["system:main"]).toBe(`T[${builtIn}]`);
    const both = run({ systemPrompt: "C[{{original}}|{{original}}]" }, tenant);
    expect(contents(both)["system:main"]).toBe(`C[T[${builtIn}]|]`);
    expect(both.blocks[0]).toMatchObject({ refId: "char_1", reasonDetail: { from: "character" } });
    expect(contents(run({ systemPrompt: "  " }, { mainPrompt: "" }))["system:main"]).toBe(builtIn);
  });

  it("inserts an original that holds macros as text", () => {
    const result = run({ nickname: "{{user}}", systemPrompt: "{{original}}" }, { mainPrompt: "I am {{char}}" });
    expect(contents(result)["system:main"]).toBe("I am {{user}}");
  });

  it("gives post-history instructions the tenant's as original, and makes no block of blank fields", () => {
    const settings = { postHistoryInstructions: "tenant" };
    expect(contents(run({ postHistoryInstructions: "own + {{original}}" }, settings))["system:post_history"]).toBe(
      "own + tenant",
    );
    const empty = run(
      { description: " \r\n ", personality: "", scenario: "", postHistoryInstructions: "{{original}}" },
      {},
      { ...max, description: "" },
    );
    expect(empty.blocks.map(({ id }) => id)).toEqual(["system:main"]);
  });

  it("trims fields and removes carriage returns", () => {
    expect(contents(run({ description: "  one\r\ntwo\r\n" }))["character:description"]).toBe("one\ntwo");
  });

  it("names the field whose macros make it too long", () => {
    const run1 = () => run({ nickname: "x".repeat(2_000), scenario: "{{char}}".repeat(1_000) });
    expect(run1).toThrow(expect.objectContaining({ code: "VALIDATION_FAILED", pointer: "/character/scenario" }));
  });
});

describe("example dialogues", () => {
  const examples = (messageExamples: string) =>
    run({ messageExamples })
      .blocks.filter(({ source }) => source === "example")
      .map(({ id, name, content, groupId }) => ({ id, name, content, groupId }));

  it("keep each <START> block together and leave literal speakers alone", () => {
    expect(examples("<START>\nRebel: Stand back!\n{{char}}: Die.\n<START>\n{{user}}: Hi\n{{char}}: Hello.")).toEqual([
      { id: "example:1", name: null, content: "Rebel: Stand back!", groupId: "examples:1" },
      { id: "example:2", name: "example_assistant", content: "Die.", groupId: "examples:1" },
      { id: "example:3", name: "example_user", content: "Hi", groupId: "examples:2" },
      { id: "example:4", name: "example_assistant", content: "Hello.", groupId: "examples:2" },
    ]);
  });

  it("give a stranger's line to nobody, and continuation lines to the speaker", () => {
    const lines = examples("{{char}}: One.\nShe said: two.\nGuard Captain: Halt!\n<bot>: Three.\r\nMira: Four.");
    expect(lines.map(({ name, content }) => [name, content])).toEqual([
      ["example_assistant", "One.\nShe said: two."],
      [null, "Guard Captain: Halt!"],
      ["example_assistant", "Three."],
      ["example_assistant", "Four."],
    ]);
  });

  it("make nothing of blank units", () => {
    expect(examples("<START>\n\n<start>\n  \n")).toEqual([]);
  });
});
