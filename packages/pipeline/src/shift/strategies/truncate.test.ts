import { describe, expect, it } from "vitest";
import type { CountedBlock } from "../../block.ts";
import { aBlock } from "../../testing/conversation.ts";
import { shiftNow } from "../../testing/shifting.ts";
import { checkOptions } from "../check-options.ts";
import { truncate } from "./truncate.ts";

const call = { id: "c", name: "f", arguments: "{}" };

function shifting(blocks: readonly CountedBlock[], budgetTokens: number, examples?: "first" | "last") {
  const tieRanks = new Map([
    ["lore:b", 1],
    ["lore:a", 2],
    ["mem:new", 2],
    ["mem:old", 1],
  ]);
  const strategyOptions = examples === undefined ? {} : { examples };
  const result = shiftNow(truncate, { blocks, budgetTokens, strategyOptions, tieRanks });
  return { ...result, out: result.excluded.map(({ block, reason }) => [block.id, reason]) };
}

const everything: readonly CountedBlock[] = [
  aBlock("main", { source: "system" }),
  aBlock("lore:a", { source: "lorebook" }),
  aBlock("lore:b", { source: "lorebook" }),
  aBlock("lore:required", { source: "lorebook", required: true }),
  aBlock("persona", { source: "persona" }),
  aBlock("character", { source: "character" }),
  aBlock("example:1", { source: "example", groupId: "e1" }),
  aBlock("example:2", { source: "example", groupId: "e1" }),
  aBlock("example:3", { source: "example", groupId: "e2" }),
  aBlock("mem:old", { source: "memory", relevance: 0.5 }),
  aBlock("mem:new", { source: "memory", relevance: 0.5 }),
  aBlock("mem:best", { source: "memory", relevance: 0.9 }),
  aBlock("h1"),
  aBlock("h2", { role: "assistant", toolCalls: [call], groupId: "g" }),
  aBlock("pinned", { pinned: true }),
  aBlock("h3", { role: "tool", toolCallId: "c", groupId: "g" }),
  aBlock("narrator", { role: "system", required: true }),
  aBlock("input", { source: "input" }),
  aBlock("call1", { role: "assistant", toolCalls: [call], groupId: "g1" }),
  aBlock("result1", { role: "tool", toolCallId: "c", groupId: "g1" }),
  aBlock("call2", { role: "assistant", toolCalls: [call], groupId: "g2" }),
  aBlock("result2", { role: "tool", toolCallId: "c", groupId: "g2" }),
];

describe("truncate", () => {
  it("lets blocks leave in its published order and never what is protected", () => {
    const { out, kept, exceeded } = shifting(everything, 90);
    expect(out).toEqual([
      ["example:3", "shift_example"],
      ["example:1", "shift_example"],
      ["example:2", "shift_example"],
      ["h1", "shift_oldest"],
      ["h2", "shift_oldest"],
      ["h3", "shift_oldest"],
      ["lore:b", "shift_low_relevance"],
      ["lore:a", "shift_low_relevance"],
      ["mem:old", "shift_low_relevance"],
      ["mem:new", "shift_low_relevance"],
      ["mem:best", "shift_low_relevance"],
      ["call1", "shift_call_group"],
      ["result1", "shift_call_group"],
    ]);
    expect(kept.map((block) => block.id)).toEqual([
      "main",
      "lore:required",
      "persona",
      "character",
      "pinned",
      "narrator",
      "input",
      "call2",
      "result2",
    ]);
    expect(exceeded).toBeNull();
  });

  it("stops as soon as the rest fits", () => {
    expect(shifting(everything, 190).out.map(([id]) => id)).toEqual(["example:3", "example:1", "example:2"]);
  });

  it("moves examples behind the history when asked to", () => {
    expect(shifting(everything, 150, "last").out.map(([id]) => id)).toEqual([
      "h1",
      "h2",
      "h3",
      "example:3",
      "example:1",
      "example:2",
      "lore:b",
    ]);
  });

  it("changes nothing when everything fits", () => {
    const { kept, excluded, steps } = shifting(everything, 220);
    expect(kept).toEqual(everything);
    expect([...excluded, ...steps]).toEqual([]);
  });

  it("says what is protected and dearest when that alone does not fit", () => {
    const { exceeded, kept } = shifting([...everything, aBlock("huge", { pinned: true, tokens: 500 })], 89);
    expect(exceeded?.protectedTokens).toBe(590);
    expect(exceeded?.largest[0]).toEqual({ blockId: "huge", source: "history", label: "huge", tokens: 500 });
    expect(exceeded?.largest).toHaveLength(5);
    expect(kept).toHaveLength(10);
  });

  it("refuses an unknown place for examples", () => {
    expect(() => checkOptions(truncate.params, { examples: "middle" })).toThrow(/"first" or "last"/);
    expect(() => checkOptions(truncate.params, { examples: "last" })).not.toThrow();
  });
});
