import { describe, expect, it } from "vitest";
import type { CountedBlock } from "../block.ts";
import type { PostProcessing } from "../settings.ts";
import { aBlock, aCall, chatOf, theSettings, theWire } from "../testing/conversation.ts";

const system = (id: string, content: string) => aBlock(id, { source: "system", role: "system", content });
const said = (id: string, role: "user" | "assistant", content: string, name: string | null = null) =>
  aBlock(id, { role, content, name });
const call = aBlock("a1", { role: "assistant", content: "", toolCalls: [aCall("c1", '{"at":"dusk"}')], groupId: "g" });
const result = aBlock("t1", { role: "tool", content: "low", toolCallId: "c1", groupId: "g" });

function sending(mode: PostProcessing, blocks: readonly CountedBlock[]) {
  const written = theWire({ postProcessing: mode }).write(blocks, 100);
  return { ...written, messages: chatOf(written.request).messages };
}

const CHAT = [
  system("s1", "Be kind."),
  system("s2", "It rains."),
  said("g1", "assistant", "You made it."),
  said("u1", "user", "Hi.", "Max"),
  said("u2", "user", "Anyone?"),
  system("s3", "Stay calm."),
];

describe("post-processing", () => {
  it("merge joins neighbours of one role by a blank line and turns names into prefixes", () => {
    expect(sending("merge", CHAT).messages).toEqual([
      { role: "system", content: "Be kind.\n\nIt rains." },
      { role: "assistant", content: "You made it." },
      { role: "user", content: "Max: Hi.\n\nAnyone?" },
      { role: "system", content: "Stay calm." },
    ]);
  });

  it("semi makes later system messages the user's", () => {
    expect(sending("semi", CHAT).messages).toEqual([
      { role: "system", content: "Be kind.\n\nIt rains." },
      { role: "assistant", content: "You made it." },
      { role: "user", content: "Max: Hi.\n\nAnyone?\n\nStay calm." },
    ]);
  });

  it("strict also has a user message first, its own only when there is none", () => {
    const roles = sending("strict", CHAT).messages.map(({ role }) => role);
    expect(roles).toEqual(["system", "user", "assistant", "user"]);
    expect(sending("strict", [said("u1", "user", "Hi.")]).messages).toEqual([{ role: "user", content: "Hi." }]);
    expect(sending("strict", [system("s1", "Be kind.")]).messages.at(-1)?.role).toBe("user");
  });

  it("single sends one user message in which every speaker is named", () => {
    expect(sending("single", CHAT).messages).toEqual([
      {
        role: "user",
        content: "Be kind.\n\nIt rains.\n\nMira: You made it.\n\nMax: Hi.\n\nMax: Anyone?\n\nStay calm.",
      },
    ]);
  });

  it("names example speakers after the chat's own, and no text twice", () => {
    const example = (id: string, name: string, content: string) => ({ ...system(id, content), name });
    const blocks = [
      example("e1", "example_user", "Hi"),
      example("e2", "example_assistant", "Mira: Welcome."),
      said("u1", "user", "Hello.", "Мария  Ann"),
    ];
    expect(sending("merge", blocks).messages.map(({ content }) => content)).toEqual([
      "Max: Hi\n\nMira: Welcome.",
      "Мария Ann: Hello.",
    ]);
  });
});

describe("tool use under post-processing", () => {
  const blocks = [said("u1", "user", "Tide?"), said("a0", "assistant", "Let me look."), call, result];
  const tools = [{ name: "lookup", description: null, parameters: {} }];

  it("stays calls and results in the variants with tools, joined to the text before the call", () => {
    expect(sending("strict_tools", blocks).messages).toEqual([
      { role: "user", content: "Tide?" },
      {
        role: "assistant",
        content: "Let me look.",
        tool_calls: [{ id: "c1", type: "function", function: { name: "lookup", arguments: '{"at":"dusk"}' } }],
      },
      { role: "tool", content: "low", tool_call_id: "c1" },
    ]);
  });

  it("never joins results, nor anything behind calls", () => {
    const both = { ...call, toolCalls: [aCall("c1"), aCall("c2")] };
    const second = { ...result, id: "t2", toolCallId: "c2" };
    expect(sending("merge_tools", [call, said("a2", "assistant", "Well.")]).messages).toHaveLength(2);
    expect(sending("merge_tools", [both, result, second]).messages.map(({ role }) => role)).toEqual([
      "assistant",
      "tool",
      "tool",
    ]);
  });

  it("becomes text in the others, with everything it said", () => {
    expect(sending("merge", blocks).messages).toEqual([
      { role: "user", content: "Tide?" },
      { role: "assistant", content: 'Let me look.\n\n[Tool call c1: lookup({"at":"dusk"})]' },
      { role: "user", content: "[Result of tool call c1]\nlow" },
    ]);
  });

  it("offers tools only where calls stay calls, and says when it does not", () => {
    for (const mode of ["merge", "merge_tools"] as const) {
      const wire = theWire({ postProcessing: mode, tools });
      const { request, repaired } = wire.write([said("u1", "user", "Tide?")], 100);
      expect("tools" in request).toBe(mode === "merge_tools");
      expect(repaired.map(({ repair }) => repair)).toEqual(mode === "merge" ? ["tools_not_sent"] : []);
    }
  });
});

describe("a mode that does not exist", () => {
  it("is refused with its pointer", () => {
    const postProcessing = "loose" as PostProcessing;
    expect(() => theWire(theSettings({ postProcessing }))).toThrow(
      expect.objectContaining({ code: "VALIDATION_FAILED", pointer: "/postProcessing" }),
    );
  });
});
