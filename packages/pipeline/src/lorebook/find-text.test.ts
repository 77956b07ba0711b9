import fc from "fast-check";
import { expect, it } from "vitest";
import { findText } from "./find-text.ts";

it("agrees with indexOf where it searches on its own", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(letters, fc.nat(40), fc.nat(60), (needle, before, from) => {
      // A long tail of a third letter makes the text large enough for the linear search.
      const text = "abaab".repeat(before) + needle + "c".repeat(1_100_000);
      expect(findText(text, needle, from)).toBe(text.indexOf(needle, from));
    }),
    { seed: 7, numRuns: 20 },
  );
});

it("finds nothing in repetitive text without trying every place", () => {
  const text = "a".repeat(262_144);
  const start = performance.now();
  for (let run = 0; run < 20; run += 1) expect(findText(text, `${"a".repeat(250)}b${"a".repeat(250)}`)).toBe(-1);
  // The engine's own search needs about 30 ms for one.
  expect(performance.now() - start).toBeLessThan(300);
});
