import { describe, expect, it } from "vitest";
import { truncate } from "../shift/strategies/truncate.ts";
import { aBlock, aConversation } from "../testing/conversation.ts";
import { runNow } from "../shift/plan.ts";
import { aShiftContext } from "../testing/shifting.ts";
import { shift } from "./shift.ts";

const memories = [
  { id: "old", content: "x", pinned: false, sourceMessageId: "m1", createdAt: "2026-01-01T00:00:00Z" },
  { id: "new", content: "y", pinned: false, sourceMessageId: "m2", createdAt: "2026-01-02T00:00:00Z" },
];

function shifting(blocks: Parameters<typeof shift>[0]["blocks"], budgetTokens: number) {
  const conversation = aConversation([], { memories });
  const input = { blocks, budgetTokens, overheadTokens: 0, strategyOptions: {}, tieRanks: new Map<string, number>() };
  return runNow(shift({ ...input, strategy: truncate, conversation }, aShiftContext()));
}

describe("shift", () => {
  it("leaves out memories whose source message stayed, and only those", () => {
    const blocks = [
      aBlock("mem:old", { source: "memory", refId: "old" }),
      aBlock("mem:new", { source: "memory", refId: "new" }),
      aBlock("msg:m1", { refId: "m1", seq: 1 }),
      aBlock("msg:m2", { refId: "m2", seq: 2 }),
    ];
    const { kept, leftOut } = shifting(blocks, 30);
    expect(kept.map((block) => block.id)).toEqual(["mem:old", "msg:m2"]);
    expect(leftOut.map(({ block, reason }) => [block.id, reason])).toEqual([
      ["mem:new", "memory_source_in_prompt"],
      ["msg:m1", "shift_oldest"],
    ]);
  });

  it("keeps a pinned memory beside its source", () => {
    const blocks = [
      aBlock("mem:new", { source: "memory", refId: "new", pinned: true }),
      aBlock("msg:m2", { refId: "m2", seq: 2 }),
    ];
    expect(shifting(blocks, 100).kept).toHaveLength(2);
  });

  it("reports every drop with the tokens before and after", () => {
    const { steps } = shifting([aBlock("a"), aBlock("b"), aBlock("c", { source: "input" })], 15);
    expect(steps).toEqual([
      { step: 1, action: "drop", blockIds: ["a"], tokensBefore: 30, tokensAfter: 20 },
      { step: 2, action: "drop", blockIds: ["b"], tokensBefore: 20, tokensAfter: 10 },
    ]);
  });
});
