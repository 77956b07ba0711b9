import { describe, expect, it } from "vitest";
import { countEncoded, RUN_LIMIT, sliceLongRuns } from "./encoder.ts";

describe("countEncoded", () => {
  it("counts special-token strings as the plain text they are", () => {
    expect(countEncoded("o200k_base", "<|endoftext|>".repeat(200))).toEqual({ tokens: 1201, approximate: false });
  });

  it("gives the vocabulary's own counts", () => {
    expect(countEncoded("o200k_base", "hello world").tokens).toBe(2);
    expect(countEncoded("cl100k_base", "hello world").tokens).toBe(2);
    expect(countEncoded("o200k_base", "")).toEqual({ tokens: 0, approximate: false });
  });

  it("counts what is not a string without touching the encoder's memory", () => {
    for (const value of [null, undefined]) expect(countEncoded("o200k_base", value).tokens).toBe(0);
    expect(countEncoded("o200k_base", { a: [1, 2] }).tokens).toBeGreaterThan(0);
    expect(countEncoded("o200k_base", Symbol("x")).tokens).toBe(0);
  });

  it("counts lone surrogates", () => {
    expect(countEncoded("o200k_base", "a\uD800b").tokens).toBeGreaterThan(0);
  });

  it.each([
    ["one letter", "a".repeat(100_000)],
    ["Chinese without punctuation", "字".repeat(34_000)],
    ["spaces", " ".repeat(100_000)],
    ["symbols", "=".repeat(100_000)],
    ["slashes and newlines", "/\n".repeat(50_000)],
    ["symbols with marks", "❤️".repeat(17_000)],
    ["letters with marks", "e\u0301".repeat(33_000)],
    ["emoji", "🪑".repeat(25_000)],
  ])("counts 100 KB of %s in well under a second and says it is approximate", (_name, text) => {
    const startedAt = performance.now();
    const count = countEncoded("o200k_base", text);
    countEncoded("cl100k_base", text);
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    expect(count.approximate).toBe(true);
    expect(count.tokens).toBeGreaterThan(0);
  });

  it("leaves long prose in any script whole", () => {
    for (const sentence of [
      "The tide rises, slowly. ",
      "Прилив поднимается, медленно. ",
      "潮が満ちる、ゆっくりと。3 ",
    ]) {
      expect(sliceLongRuns(sentence.repeat(200))).toHaveLength(1);
    }
  });
});

describe("sliceLongRuns", () => {
  it("gives back the text, in slices that cut no surrogate pair", () => {
    for (const text of ["🪑".repeat(700), `x${"🪑".repeat(700)}`, `intro ${"a".repeat(1_500)} outro`]) {
      const pieces = sliceLongRuns(text);
      expect(pieces.join("")).toBe(text);
      expect(pieces.length).toBeGreaterThan(1);
      for (const piece of pieces) expect(piece).not.toMatch(/\p{Surrogate}/u);
    }
  });

  it("slices at the limit", () => {
    expect(sliceLongRuns("a".repeat(RUN_LIMIT + 1)).map((piece) => piece.length)).toEqual([RUN_LIMIT, 1]);
  });
});
