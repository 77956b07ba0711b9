import { expect, it } from "vitest";
import { rollPercent } from "./roll.ts";

it("rolls the same for the same seed, book and entry, and otherwise for each of them", () => {
  const roll = rollPercent("seed", "book", "entry");
  expect(rollPercent("seed", "book", "entry")).toBe(roll);
  expect(
    new Set([
      roll,
      rollPercent("other", "book", "entry"),
      rollPercent("seed", "b", "entry"),
      rollPercent("seed", "book", "e"),
    ]).size,
  ).toBe(4);
  expect(rollPercent("a", "bc", "d")).not.toBe(rollPercent("ab", "c", "d"));
});

it("spreads evenly over 0 to 100", () => {
  const rolls = Array.from({ length: 4_000 }, (_, index) => rollPercent("seed", "book", `e${index}`));
  expect(Math.min(...rolls)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...rolls)).toBeLessThan(100);
  const lower = rolls.filter((roll) => roll <= 30).length / rolls.length;
  expect(lower).toBeGreaterThan(0.27);
  expect(lower).toBeLessThan(0.33);
});
