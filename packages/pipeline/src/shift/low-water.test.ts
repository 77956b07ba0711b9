import { describe, expect, it } from "vitest";
import type { CountedBlock } from "../block.ts";
import { aBlock } from "../testing/conversation.ts";
import { shiftNow } from "../testing/shifting.ts";
import { STRATEGIES } from "./registry.ts";

const history = (from: number, to: number): readonly CountedBlock[] =>
  Array.from({ length: to - from + 1 }, (_, index) => aBlock(`h${from + index}`));
const input = aBlock("input", { source: "input" });
const system = aBlock("main", { source: "system" });
const ids = ({ kept }: ReturnType<typeof shiftNow>) => kept.map(({ id }) => id);

describe("lowWater", () => {
  const shifting = (blocks: readonly CountedBlock[], anchorId: string | null, lowWater: number | null = 0.5) =>
    shiftNow(STRATEGIES.truncate, { blocks, budgetTokens: 100, lowWater, anchorId });

  it("does nothing while everything fits", () => {
    expect(shifting([system, ...history(1, 8), input], null).excluded).toEqual([]);
  });

  it("once over budget, lets history leave down to its share of the budget", () => {
    expect(ids(shifting([system, ...history(1, 9), input], null))).toEqual(["main", "h7", "h8", "h9", "input"]);
  });

  it("keeps the cut where the last turn left it while everything from there on fits", () => {
    expect(ids(shifting([system, ...history(1, 13), input], "h7"))).toEqual([
      "main",
      ...history(7, 13).map(({ id }) => id),
      "input",
    ]);
    expect(ids(shifting([system, ...history(1, 15), input], "h7"))).toEqual(["main", "h13", "h14", "h15", "input"]);
  });

  it("trims anew when the anchor is gone", () => {
    expect(ids(shifting([system, ...history(1, 9), input], "h99"))).toEqual(["main", "h7", "h8", "h9", "input"]);
  });

  it("is off without a mark, whatever the anchor", () => {
    expect(shifting([system, ...history(1, 8), input], "h7", null).excluded).toEqual([]);
  });

  it("keeps examples away that left ahead of the history", () => {
    const example = aBlock("ex", { source: "example" });
    expect(ids(shifting([system, example, ...history(1, 8), input], "h7"))).toEqual(["main", "h7", "h8", "input"]);
  });

  it("shares the rest with the history where everything else costs more than the mark", () => {
    const large = aBlock("main", { source: "system", tokens: 60 });
    expect(ids(shifting([large, ...history(1, 6), input], null))).toEqual(["main", "h6", "input"]);
  });

  it("takes no lore or memory along: those leave only for the budget", () => {
    const lore = aBlock("lore", { source: "lorebook" });
    expect(ids(shifting([system, lore, ...history(1, 9), input], null))).toContain("lore");
  });
});
