import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { meanReciprocalRank, type RelevanceSet } from "./mean-reciprocal-rank.ts";

type Query = RelevanceSet["queries"][number] & { readonly kind: string; readonly half: "tuning" | "test" };

const file = new URL("../../fixtures/relevance.json", import.meta.url);
const set = JSON.parse(readFileSync(file, "utf8")) as Omit<RelevanceSet, "queries"> & {
  readonly queries: readonly Query[];
};
const asked = (which: (query: Query) => boolean) => ({ ...set, queries: set.queries.filter(which) });

describe("relevance set", () => {
  it("holds texts and questions of every kind, each kind half for tuning and half for the test", () => {
    expect(set.blocks.length).toBeGreaterThanOrEqual(60);
    expect(set.queries.length).toBeGreaterThanOrEqual(80);
    for (const kind of ["name", "inflection", "paraphrase", "typo", "cyrillic", "japanese"]) {
      const countOf = (half: string) => asked((query) => query.kind === kind && query.half === half).queries.length;
      expect(countOf("tuning")).toBe(countOf("test"));
      expect(countOf("test")).toBeGreaterThan(0);
    }
  });

  it("finds by words and spelling what the test half asks for: mean reciprocal rank 0.65 or more", () => {
    expect(meanReciprocalRank(asked(({ half }) => half === "test"))).toBeGreaterThanOrEqual(0.65);
  });

  it("finds in the two scripts beside Latin as well", () => {
    const others = asked(({ half, kind }) => half === "test" && (kind === "cyrillic" || kind === "japanese"));
    expect(meanReciprocalRank(others)).toBeGreaterThanOrEqual(0.65);
  });

  it("counts a text that is not found as 0, and the second place as a half", () => {
    const blocks = ["sword", "sword", "bread"].map((text, index) => ({ id: `${index}`, text }));
    const rankOf = (relevant: string) => meanReciprocalRank({ blocks, queries: [{ text: "sword", relevant }] });
    expect(["0", "1", "2"].map(rankOf)).toEqual([0.5, 1, 0]);
  });
});
