import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesModel } from "./model-pattern.ts";

describe("matchesModel", () => {
  it.each([
    ["qwen3-8b", "qwen3-8b", true],
    ["qwen3-8b", "qwen3-8b-instruct", false],
    ["qwen3*", "qwen3-8b", true],
    ["qwen3*", "my-qwen3", false],
    ["*qwen3", "my-qwen3", true],
    ["*-distill-*", "r1-distill-qwen", true],
    ["*-distill-*", "r1-distill", false],
    ["a*a", "a", false],
    ["*", "", true],
    ["", "", true],
    ["gpt.4", "gpt-4", false],
  ])("%s for %s: %s", (pattern, model, expected) => {
    expect(matchesModel(pattern, model)).toBe(expected);
  });

  it("says what a regular expression of the same meaning says", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 8 });
    const name = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 10 });
    fc.assert(
      fc.property(text, name, (pattern, model) => {
        const expression = new RegExp(`^${pattern.replaceAll("*", ".*")}$`);
        expect(matchesModel(pattern, model)).toBe(expression.test(model));
      }),
      { seed: 1, numRuns: 2_000 },
    );
  });
});
