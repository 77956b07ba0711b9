import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { relevances } from "./relevance.ts";
import type { RecallVectors } from "./vectors.ts";

const contents = (...texts: readonly string[]) => texts.map((content) => ({ content }));
const recallOf = (entries: Record<string, readonly number[]>): RecallVectors => ({
  provider: "test-2",
  floor: 0.2,
  vectors: new Map(Object.entries(entries).map(([text, vector]) => [text, Float32Array.from(vector)])),
});

describe("relevance", () => {
  it("puts first what both rankings put near the top", () => {
    const texts = contents("sword", "sword of the long tale of many other things", "blade");
    const recall = recallOf({ sword: [1, 0], [texts[1]?.content ?? ""]: [0, 1], blade: [0.9, 0.43] });
    const { each } = relevances(texts, ["sword"], { recall });
    expect(each.map(({ score }) => score)).toEqual([1, expect.closeTo(21 / 22 / 2, 5), expect.closeTo(21 / 22 / 2, 5)]);
    expect(each[2]).toMatchObject({ words: null, meaning: { score: 0.9, rank: 2 } });
  });

  it("gives equal scores one rank, and the next its place behind all of them", () => {
    const texts = contents("a", "b", "c");
    const { each } = relevances(texts, ["q"], { recall: recallOf({ q: [1, 0], a: [1, 0], b: [1, 0], c: [0.8, 0.6] }) });
    expect(each.map(({ meaning }) => meaning?.rank)).toEqual([1, 1, 3]);
  });

  it("asks with the last words of both, the user's counting twice", () => {
    const recall = recallOf({ user: [1, 0], reply: [0, 1], a: [1, 0], b: [0, 1] });
    const { each } = relevances(contents("a", "b"), ["user", "reply"], { recall });
    expect(each[0]?.meaning?.score).toBeCloseTo(2 / Math.sqrt(5), 5);
    expect(each[1]?.meaning?.score).toBeCloseTo(1 / Math.sqrt(5), 5);
  });

  it("compares nothing while the user's own words have no vector", () => {
    const { each, missing } = relevances(contents("a"), ["user", "reply"], {
      recall: recallOf({ reply: [1, 0], a: [1, 0] }),
    });
    expect(each).toEqual([{ score: 0, words: null, meaning: null }]);
    expect(missing).toEqual({ question: 1, candidates: 0 });
  });

  it("takes a vector of zeros, and one of another length, for a text that cannot be compared", () => {
    const recall = recallOf({ q: [1, 0], zeros: [0, 0], longer: [1, 0, 0] });
    const { each, missing } = relevances(contents("zeros", "longer"), ["q"], { recall });
    expect(each.map(({ meaning }) => meaning)).toEqual([null, null]);
    expect(missing).toEqual({ question: 0, candidates: 0 });
  });

  it("lets nothing below the asked share of the best into a ranking", () => {
    const recall = recallOf({ q: [1, 0], near: [1, 0], far: [0.3, 0.954] });
    const of = (minimumShare: number) =>
      relevances(contents("near", "far"), ["q"], { recall, minimumShare }).each.map(({ meaning }) => meaning?.rank);
    expect(of(0.2)).toEqual([1, 2]);
    expect(of(0.5)).toEqual([1, undefined]);
  });

  it("lies in 0..1, is 0 exactly outside both rankings, and depends on no order, for any texts", () => {
    const text = fc
      .array(fc.constantFrom("sword", "shield", "dragons", "the", "龙王", "дракон"), { maxLength: 4 })
      .map((words) => words.join(" "));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 8 }), fc.array(text, { maxLength: 2 }), (texts, queries) => {
        const { each } = relevances(contents(...texts), queries);
        for (const { score, words, meaning } of each) {
          expect(score).toBeGreaterThanOrEqual(0);
          expect(score).toBeLessThanOrEqual(1);
          expect(score === 0).toBe(words === null && meaning === null);
        }
        expect(relevances(contents(...texts.toReversed()), queries).each.toReversed()).toEqual(each);
      }),
      { seed: 5 },
    );
  });
});
