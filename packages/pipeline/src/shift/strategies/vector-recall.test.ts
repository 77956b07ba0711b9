import { describe, expect, it } from "vitest";
import type { CountedBlock } from "../../block.ts";
import { aBlock } from "../../testing/conversation.ts";
import { shiftNow } from "../../testing/shifting.ts";
import { vectorRecall } from "./vector-recall.ts";

const memory = (id: string, relevance: number | null, part: Partial<CountedBlock> = {}): CountedBlock =>
  aBlock(id, { source: "memory", role: "system", relevance, ...part });
const input = aBlock("input", { source: "input", content: "Where is the lighthouse key?" });
const out = (result: ReturnType<typeof shiftNow>) => result.excluded.map(({ block, reason }) => [block.id, reason]);

describe("vector-recall", () => {
  it("lets what is least relevant leave first, then examples, then history", () => {
    const blocks = [
      aBlock("ex", { source: "example" }),
      memory("m1", 0.9),
      aBlock("lore", { source: "lorebook", relevance: 0.5 }),
      memory("m2", 0.2),
      aBlock("h1"),
      input,
    ];
    expect(out(shiftNow(vectorRecall, { blocks, budgetTokens: 10 }))).toEqual([
      ["m2", "shift_low_relevance"],
      ["lore", "shift_low_relevance"],
      ["m1", "shift_low_relevance"],
      ["ex", "shift_example"],
      ["h1", "shift_oldest"],
    ]);
  });

  it("finds out itself what is relevant when nobody says", () => {
    const blocks = [
      memory("boat", null, { content: "The boat is green." }),
      memory("key", null, { content: "The key of the lighthouse hangs by the door." }),
      input,
    ];
    expect(out(shiftNow(vectorRecall, { blocks, budgetTokens: 20 }))).toEqual([["boat", "shift_low_relevance"]]);
  });

  it("leaves the evidence of what it found with the block, kept or not", () => {
    const lore = (id: string, content: string) =>
      aBlock(id, { source: "lorebook", role: "system", content, relevance: null });
    const blocks = [lore("boat", "The boat is green."), lore("key", "The key of the lighthouse."), input];
    const { kept, excluded } = shiftNow(vectorRecall, { blocks, budgetTokens: 20 });
    expect(kept[0]).toMatchObject({
      id: "key",
      relevance: 1,
      reasonDetail: { score: 1, words: { score: 1, rank: 1 } },
    });
    expect(excluded[0]?.block).toMatchObject({ id: "boat", reasonDetail: { score: 0, words: null, meaning: null } });
  });

  it("goes by the vectors it is given, and says when some are missing", () => {
    const blocks = [
      memory("ship", null, { content: "A ship left." }),
      memory("door", null, { content: "It hangs by the entrance." }),
      input,
    ];
    const vectors = new Map([
      [input.content, Float32Array.of(1, 0)],
      ["It hangs by the entrance.", Float32Array.of(0.8, 0.6)],
    ]);
    const recall = { provider: "test-2", floor: 0.2, vectors };
    const { excluded, diagnostics } = shiftNow(vectorRecall, { blocks, budgetTokens: 20 }, { recall });
    expect(excluded.map(({ block }) => block.id)).toEqual(["ship"]);
    expect(diagnostics).toEqual([
      { code: "vectors_missing", stage: "shift", detail: { provider: "test-2", question: 0, candidates: 1 } },
    ]);
  });

  it("believes the host's relevance before a block's own", () => {
    const blocks = [memory("a", 0.9), memory("b", 0.1), input];
    const relevance = (block: { readonly id: string }) => (block.id === "b" ? 1 : null);
    const { kept, excluded } = shiftNow(vectorRecall, { blocks, budgetTokens: 20 }, { relevance });
    expect(excluded.map(({ block }) => block.id)).toEqual(["a"]);
    expect(kept[0]).toMatchObject({ id: "b", relevance: 1 });
  });

  it("keeps part of the oldest text that does not fit when at least 64 tokens of it do", () => {
    const old = aBlock("old", { content: "The tide turned and nobody spoke. ".repeat(20), tokens: 174 });
    const { kept, truncated, excluded, steps } = shiftNow(vectorRecall, { blocks: [old, input], budgetTokens: 90 });
    expect(kept.map(({ id }) => id)).toEqual(["old", "input"]);
    expect(kept[0]).toMatchObject({ reason: "truncated", originalTokens: 174 });
    expect(kept[0]?.content).toContain("characters left out");
    expect(kept[0]?.tokens).toBeGreaterThanOrEqual(64);
    expect(kept[0]?.tokens).toBeLessThanOrEqual(80);
    expect(excluded).toEqual([]);
    expect(truncated[0]).toMatchObject({ block: { id: "old" }, originalTokens: 174, tokens: kept[0]?.tokens });
    expect(steps).toMatchObject([{ action: "truncate", blockIds: ["old"], tokensBefore: 184 }]);
  });

  it.each([
    ["less than 64 tokens are free", 73, {}],
    ["it may not", 90, { shorten: false }],
  ])("does not when %s", (_why, budgetTokens, strategyOptions) => {
    const old = aBlock("old", { content: "The tide turned. ".repeat(40), tokens: 174 });
    const result = shiftNow(vectorRecall, { blocks: [old, input], budgetTokens, strategyOptions });
    expect(out(result)).toEqual([["old", "shift_oldest"]]);
  });
});
