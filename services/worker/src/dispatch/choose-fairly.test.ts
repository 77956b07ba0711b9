import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chooseFairly, settle, type Contender } from "./choose-fairly.ts";

const SEED = 20_261;

function contender(tenantId: string, part: Partial<Contender> = {}): Contender {
  return { tenantId, weight: 1, concurrencyShare: null, maxConcurrency: 1_000, inFlight: 0, owed: 0, ...part };
}

const chosen = (contenders: readonly Contender[], room: number): string =>
  chooseFairly(contenders, room)
    .map((choice) => choice.tenantId)
    .join("");

const countOf = (contenders: readonly Contender[], room: number): ReadonlyMap<string, number> => {
  const counts = new Map(contenders.map((each) => [each.tenantId, 0]));
  for (const { tenantId } of chooseFairly(contenders, room)) counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1);
  return counts;
};

const contenders = fc
  .array(
    fc.record({
      weight: fc.integer({ min: 1, max: 100 }),
      concurrencyShare: fc.option(fc.integer({ min: 1, max: 10 })),
      maxConcurrency: fc.integer({ min: 1, max: 20 }),
      inFlight: fc.nat({ max: 20 }),
      owed: fc.double({ min: -2, max: 2, noNaN: true }),
    }),
    { maxLength: 12 },
  )
  .map((list) => list.map((part, index) => contender(`t${index}`, part)));

describe("a fair choice", () => {
  it("puts a tenant with nothing in flight before one with much, and shares the rest", () => {
    expect(chosen([contender("a", { inFlight: 3 }), contender("b")], 5)).toBe("bbbab");
  });

  it("gives places in proportion to weight", () => {
    expect([...countOf([contender("a", { weight: 3 }), contender("b")], 8)]).toEqual([
      ["a", 6],
      ["b", 2],
    ]);
  });

  it("keeps a tenant within its share only while another stays within its own", () => {
    const capped = contender("a", { concurrencyShare: 2 });
    expect(chosen([capped], 4)).toBe("aaaa");
    expect(chosen([capped, contender("b", { inFlight: 5 })], 4)).toBe("aabb");
    expect(chosen([capped, contender("b", { maxConcurrency: 1 })], 4)).toBe("abaa");
    expect(chosen([capped, contender("b", { concurrencyShare: 1 })], 5)).toBe("ababa");
  });

  it("lets equals take turns, whoever stands first beginning", () => {
    expect(chosen([contender("b"), contender("c"), contender("a")], 5)).toBe("bcabc");
  });

  it("gives a tenant its turn whose weight comes to less than one slot", () => {
    const heavy = contender("a", { weight: 100, inFlight: 9 });
    expect(chosen([heavy, contender("b")], 1)).toBe("a");
    expect(chosen([heavy, contender("b", { owed: 1 })], 1)).toBe("b");
  });
});

describe("for any tenants, a fair choice", () => {
  it("never goes beyond the room or a tenant's maximum, and leaves no place empty that somebody may have", () => {
    fc.assert(
      fc.property(contenders, fc.nat({ max: 60 }), (all, room) => {
        const counts = countOf(all, room);
        const given = [...counts.values()].reduce((sum, count) => sum + count, 0);
        const free = (each: Contender): number => Math.max(0, each.maxConcurrency - each.inFlight);
        for (const each of all) expect(counts.get(each.tenantId)).toBeLessThanOrEqual(free(each));
        expect(given).toBe(
          Math.min(
            room,
            all.reduce((sum, each) => sum + free(each), 0),
          ),
        );
      }),
      { seed: SEED },
    );
  });

  it("goes beyond nobody's share while a tenant that may have more is within its own", () => {
    fc.assert(
      fc.property(contenders, fc.nat({ max: 60 }), (all, room) => {
        const counts = countOf(all, room);
        const over = (each: Contender, more: number): boolean =>
          each.concurrencyShare !== null &&
          each.inFlight + (counts.get(each.tenantId) ?? 0) + more > each.concurrencyShare;
        const favoured = all.some((each) => (counts.get(each.tenantId) ?? 0) > 0 && over(each, 0));
        const passedOver = all.some(
          (each) => each.inFlight + (counts.get(each.tenantId) ?? 0) < each.maxConcurrency && !over(each, 1),
        );
        expect(favoured && passedOver).toBe(false);
      }),
      { seed: SEED },
    );
  });

  it("gives nobody a whole job less of an empty window than its weight's share", () => {
    const weights = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(weights, fc.integer({ min: 1, max: 200 }), (list, room) => {
        const all = list.map((weight, index) => contender(`t${index}`, { weight }));
        const total = list.reduce((sum, weight) => sum + weight, 0);
        const counts = countOf(all, room);
        for (const { tenantId, weight } of all) {
          expect(counts.get(tenantId)).toBeGreaterThan((room * weight) / total - 1);
        }
      }),
      { seed: SEED },
    );
  });
});

interface Run {
  /** Largest distance ever between what a tenant got and its weight's part of all places, in jobs. */
  readonly furthestFromIdeal: number;
  /** Longest wait of a tenant for its next place, in places given to anybody, times its weight's part of them. */
  readonly longestWait: number;
}

/** All wait all the time, all jobs take equally long: one ends, one place is given. */
function runLong(weights: readonly number[], window: number, places: number): Run {
  let line = weights.map((weight, index) => contender(`t${index}`, { weight }));
  const sum = weights.reduce((all, weight) => all + weight, 0);
  const running: string[] = [];
  const served = new Map(line.map((each) => [each.tenantId, { count: 0, at: 0 }]));
  const run = { furthestFromIdeal: 0, longestWait: 0 };
  for (let total = 0; total < places; running.shift()) {
    line = line.map((each) => ({ ...each, inFlight: running.filter((tenantId) => tenantId === each.tenantId).length }));
    const choices = chooseFairly(line, window - running.length);
    const given = new Map<string, number>();
    for (const { tenantId } of choices) {
      total += 1;
      running.push(tenantId);
      given.set(tenantId, (given.get(tenantId) ?? 0) + 1);
      served.set(tenantId, { count: (served.get(tenantId)?.count ?? 0) + 1, at: total });
    }
    const owed = settle(line, given);
    line = line.map((each) => ({ ...each, owed: owed.get(each.tenantId) ?? each.owed }));
    line = [...line.filter((each) => !given.has(each.tenantId)), ...line.filter((each) => given.has(each.tenantId))];
    for (const { tenantId, weight } of line) {
      const { count, at } = served.get(tenantId) ?? { count: 0, at: 0 };
      run.furthestFromIdeal = Math.max(run.furthestFromIdeal, Math.abs(count - (total * weight) / sum));
      run.longestWait = Math.max(run.longestWait, ((total - at) * weight) / sum);
    }
  }
  return run;
}

describe("over a long run", () => {
  it("every tenant's part stays within three jobs of its weight's, without drift, and nobody waits for three turns", () => {
    const weights = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(weights, fc.integer({ min: 1, max: 30 }), (list, window) => {
        const run = runLong(list, window, 1_000);
        expect(run.furthestFromIdeal).toBeLessThan(3);
        expect(run.longestWait).toBeLessThan(3);
      }),
      { seed: SEED, numRuns: 25 },
    );
  }, 30_000);
});
