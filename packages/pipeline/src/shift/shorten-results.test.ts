import { describe, expect, it } from "vitest";
import type { CountedBlock } from "../block.ts";
import { aBlock, aCall } from "../testing/conversation.ts";
import { shiftNow } from "../testing/shifting.ts";
import { STRATEGIES } from "./registry.ts";

const text = (tokens: number): string => "word ".repeat(Math.floor(((tokens - 4) * 4) / 5));
const sized = (id: string, tokens: number, part: Partial<CountedBlock> = {}): CountedBlock =>
  aBlock(id, { content: text(tokens), tokens, ...part });
const batch = (...results: readonly CountedBlock[]): readonly CountedBlock[] => [
  aBlock("system", { source: "system" }),
  aBlock("input", { source: "input" }),
  aBlock("call", { role: "assistant", toolCalls: results.map(({ id }) => aCall(id)), groupId: "g" }),
  ...results.map((block) => ({ ...block, role: "tool" as const, toolCallId: block.id, groupId: "g" })),
];
const sizes = ({ kept }: ReturnType<typeof shiftNow>) => kept.map(({ tokens }) => tokens);

describe.each(["truncate", "summarize", "vector-recall", "manual"] as const)("shortening under %s", (id) => {
  const strategy = STRATEGIES[id];

  it("is the last step before the error: the longest result of the newest call group first", () => {
    const result = shiftNow(strategy, { blocks: batch(sized("r1", 100), sized("r2", 200)), budgetTokens: 230 });
    expect(result.exceeded).toBeNull();
    expect(result.truncated.map(({ block }) => block.id)).toEqual(["r2"]);
    expect(result.kept.at(-1)?.content).toContain("characters left out");
    expect(sizes(result).reduce((sum, tokens) => sum + tokens, 0)).toBeLessThanOrEqual(230);
    expect(result.steps.at(-1)).toMatchObject({ action: "truncate", blockIds: ["r2"], tokensBefore: 330 });
  });

  it("goes down to 32 tokens a result and no further", () => {
    const least = 30 + 32 + 32;
    expect(
      shiftNow(strategy, { blocks: batch(sized("r1", 100), sized("r2", 200)), budgetTokens: least }).exceeded,
    ).toBeNull();
    const { exceeded, truncated } = shiftNow(strategy, {
      blocks: batch(sized("r1", 100), sized("r2", 200)),
      budgetTokens: least - 1,
    });
    expect([exceeded?.protectedTokens, truncated]).toEqual([330, []]);
  });

  it("never touches pinned results, older groups, input or calls", () => {
    const blocks = batch(sized("r1", 100, { pinned: true }), sized("r2", 60));
    expect(shiftNow(strategy, { blocks, budgetTokens: 150 }).exceeded?.protectedTokens).toBe(190);
    expect(shiftNow(strategy, { blocks, budgetTokens: 170 }).truncated.map(({ block }) => block.id)).toEqual(["r2"]);
  });

  it("can be switched off", () => {
    const input = { blocks: batch(sized("r1", 200)), budgetTokens: 100, strategyOptions: { shorten: false } };
    expect(shiftNow(strategy, input).exceeded?.protectedTokens).toBe(230);
  });
});

describe("shortening", () => {
  it("gives up where the cost does not follow the text", () => {
    const blocks = batch(sized("r1", 200));
    expect(shiftNow(STRATEGIES.truncate, { blocks, budgetTokens: 100 }, { count: () => 200 }).exceeded).not.toBeNull();
  });
});
