import { describe, expect, it } from "vitest";
import { truncate } from "../shift/strategies/truncate.ts";
import { aBlock } from "../testing/conversation.ts";
import { createCounter } from "../tokens/counter.ts";
import { profileFor } from "../tokens/profiles.ts";
import { recount } from "./recount.ts";

const counter = createCounter(profileFor("gpt-4o"));

function recounting(blocks: Parameters<typeof recount>[0]["blocks"], budgetTokens: number) {
  const rest = { overheadTokens: 3, strategyOptions: {}, tieRanks: new Map<string, number>() };
  return recount({ blocks, budgetTokens, strategy: truncate, counter, ...rest });
}

describe("recount", () => {
  it("does not believe the counts it is given", () => {
    const { kept } = recounting([aBlock("a", { content: "hello", tokens: 999 })], 100);
    expect(kept[0]?.tokens).toBe(5);
  });

  it("makes fit what grew since the first shift, and says final_shift", () => {
    const grown = aBlock("plugin:x:0", { source: "plugin", content: "word ".repeat(50) });
    const { kept, leftOut } = recounting([aBlock("old"), grown, aBlock("input", { source: "input" })], 70);
    expect(kept.map(({ id }) => id)).toEqual(["plugin:x:0", "input"]);
    expect(leftOut.map(({ block, reason, stage }) => [block.id, reason, stage])).toEqual([
      ["old", "final_shift", "recount"],
    ]);
  });

  it("changes nothing that fits", () => {
    const { kept, leftOut, steps, exceeded } = recounting([aBlock("a"), aBlock("b")], 100);
    expect(kept).toHaveLength(2);
    expect([leftOut, steps, exceeded]).toEqual([[], [], null]);
  });
});
