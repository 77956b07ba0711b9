import * as fc from "fast-check";
import { expect, it } from "vitest";
import { NONE } from "./byte-table.ts";
import { createMergeQueue, popPair, pushPair } from "./merge-queue.ts";

const PLACES = 30;

it("gives the lowest rank first, of one rank the first place, and never a pair whose rank has changed", () => {
  const changes = fc.array(fc.tuple(fc.nat(PLACES - 1), fc.integer({ min: NONE, max: 6 })), { maxLength: 200 });
  fc.assert(
    fc.property(changes, fc.nat(40), (rated, popsBetween) => {
      const queue = createMergeQueue(PLACES);
      for (const [turn, [place, rank]] of rated.entries()) {
        queue.ranks[place] = rank;
        if (rank !== NONE) pushPair(queue, place);
        if (turn % 50 === popsBetween) takeAndCheck(queue);
      }
      while (takeAndCheck(queue) !== NONE);
      expect(queue.ranks.every((rank) => rank === NONE)).toBe(true);
    }),
    { seed: 20_260_106, numRuns: 500 },
  );
});

function takeAndCheck(queue: ReturnType<typeof createMergeQueue>): number {
  const waiting = [...queue.ranks.entries()].filter(([, rank]) => rank !== NONE);
  const expected = waiting.sort(([a, left], [b, right]) => left - right || a - b)[0];
  const place = popPair(queue);
  expect(place).toBe(expected === undefined ? NONE : expected[0]);
  if (place !== NONE) queue.ranks[place] = NONE;
  return place;
}
