import { describe, expect, it } from "vitest";
import { meanReciprocalRank, readRelevanceSet } from "../testing/relevance-set.ts";

const set = readRelevanceSet();

describe("relevance set", () => {
  it("holds texts and questions of every kind, each kind half for tuning and half for the test", () => {
    expect(set.blocks.length).toBeGreaterThanOrEqual(60);
    expect(set.queries.length).toBeGreaterThanOrEqual(80);
    for (const kind of ["name", "inflection", "paraphrase", "typo", "cyrillic", "japanese"]) {
      const half = (name: string) => set.queries.filter((query) => query.kind === kind && query.half === name).length;
      expect(half("tuning")).toBe(half("test"));
      expect(half("test")).toBeGreaterThan(0);
    }
  });

  it("finds by words and spelling what the test half asks for: mean reciprocal rank 0.65 or more", () => {
    expect(meanReciprocalRank(set, ({ half }) => half === "test")).toBeGreaterThanOrEqual(0.65);
  });

  it("finds in the two scripts beside Latin as well", () => {
    const isOther = (kind: string) => kind === "cyrillic" || kind === "japanese";
    const mean = meanReciprocalRank(set, ({ half, kind }) => half === "test" && isOther(kind));
    expect(mean).toBeGreaterThanOrEqual(0.65);
  });
});
