import { describe, expect, it } from "vitest";
import { aBlock } from "../testing/conversation.ts";
import { createCounter, type Counter } from "../tokens/counter.ts";
import { profileFor } from "../tokens/profiles.ts";
import { COUNT_AHEAD_BYTES, countBlock, tokenize } from "./tokenize.ts";

const counter = createCounter(profileFor("gpt-4o"));

function watched(): { readonly counter: Counter; readonly messages: () => number } {
  let messages = 0;
  return {
    messages: () => messages,
    counter: {
      ...counter,
      countMessage: () => {
        messages += 1;
        return 100;
      },
    },
  };
}

describe("tokenize", () => {
  it("gives every block the whole cost of its message", () => {
    const [plain, named] = tokenize({
      blocks: [aBlock("a", { content: "hello" }), aBlock("b", { content: "hello", name: "Max" })],
      counter,
      budgetTokens: 1_000,
      overheadTokens: 3,
    });
    expect(plain?.tokens).toBe(5);
    expect(named?.tokens).toBe(7);
  });

  it("counts a 4,000-character name as far as it is sent", () => {
    const named = aBlock("a", { content: "hello", name: "Name".repeat(1_000) });
    expect(countBlock(counter, named)).toBeGreaterThan(countBlock(counter, aBlock("a", { content: "hello" })) + 10);
  });

  it("counts each block once and leaves history alone that can never fit", () => {
    const text = "word ".repeat(Math.ceil(COUNT_AHEAD_BYTES / 5 / 10));
    const blocks = Array.from({ length: 100 }, (_, index) => aBlock(`m${index}`, { content: text }));
    const watch = watched();
    const counted = tokenize({ blocks, counter: watch.counter, budgetTokens: 550, overheadTokens: 3 });
    // Six fill the budget, nine more are counted ahead.
    expect(watch.messages()).toBe(15);
    expect(counted.slice(-15).every((block) => block.tokens === 100)).toBe(true);
    expect(counted.slice(0, -15).every((block) => block.tokens === null)).toBe(true);
  });

  it("counts protected blocks however old they are", () => {
    const text = "word ".repeat(COUNT_AHEAD_BYTES / 5);
    const blocks = [aBlock("old", { pinned: true }), aBlock("m1", { content: text }), aBlock("m2", { content: text })];
    const counted = tokenize({ blocks, counter: watched().counter, budgetTokens: 50, overheadTokens: 3 });
    expect(counted.map((block) => block.tokens)).toEqual([100, null, null]);
  });

  it("does not touch its input", () => {
    const blocks = [Object.freeze(aBlock("a"))];
    tokenize({ blocks: Object.freeze(blocks), counter, budgetTokens: 10, overheadTokens: 3 });
    expect(blocks[0]?.tokens).toBe(10);
  });
});
