import fc from "fast-check";
import { expect, test } from "vitest";
import { lastInLineFirst, type Waiting } from "./place-in-line.ts";

/** Lines of these lengths; the first of each waits for one that is not among them, or for none. */
function linesOf(lengths: readonly number[]): Waiting[] {
  return lengths.flatMap((length, line) =>
    Array.from({ length }, (_, at) => ({
      id: `${line}/${at}`,
      blockedBy: at > 0 ? `${line}/${at - 1}` : line % 2 === 0 ? null : "elsewhere",
    })),
  );
}

test("each stands before the one it waits for, in whatever order they come; none is lost", () => {
  const lines = fc.array(fc.nat(8), { maxLength: 5 }).map(linesOf);
  const shuffled = lines.chain((rows) => fc.shuffledSubarray(rows, { minLength: rows.length }));
  fc.assert(
    fc.property(shuffled, (rows) => {
      const ordered = lastInLineFirst(rows);
      expect(new Set(ordered)).toEqual(new Set(rows));
      const at = new Map(ordered.map(({ id }, index) => [id, index]));
      for (const { id, blockedBy } of rows)
        expect(at.get(id)).toBeLessThan(at.get(blockedBy ?? "") ?? Number.POSITIVE_INFINITY);
    }),
    { seed: 7 },
  );
});

test("what is cut off behind the first of them is the beginning of each line", () => {
  const rows = linesOf([5, 2, 1]);
  const kept = lastInLineFirst(rows).slice(0, 5);
  expect(kept.map(({ id }) => id)).toEqual(["0/4", "0/3", "0/2", "0/1", "1/1"]);
});

test("a line as long as a queue may be is no deeper than a short one", () => {
  const rows = linesOf([100_000]);
  expect(lastInLineFirst(rows)[0]?.id).toBe("0/99999");
});
