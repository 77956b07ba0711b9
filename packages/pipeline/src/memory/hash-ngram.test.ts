import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HASH_NGRAM, hashNgramVector } from "./hash-ngram.ts";

const cosine = (a: string, b: string): number => {
  const [left, right] = [hashNgramVector(a), hashNgramVector(b)];
  return left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0);
};

describe("hash-ngram-1024", () => {
  it.each([
    ["an inflection", "She repaired the clocks.", "repairing a clock"],
    ["a slip of the pen", "The lighthouse keeper", "lighthose keper"],
    ["another case and composition", "CAFE\u0301 Zürich", "café zu\u0308rich"],
    ["Cyrillic", "Ключ от подвала", "ключи от подвалов"],
    ["Japanese", "竜の卵は洞窟にある", "竜の卵"],
    ["Thai", "แมวนอนบนเตาไฟ", "แมวนอน"],
  ])("holds %s close and other things far", (_what, text, alike) => {
    expect(cosine(text, alike)).toBeGreaterThan(0.3);
    expect(cosine(text, "Dumplings with pepper, please.")).toBeLessThan(HASH_NGRAM.floor);
  });

  it("has nothing to say of common words, signs and nothing", () => {
    for (const text of ["", "  ", "what was that with the", "?!… 🐉"])
      expect(hashNgramVector(text).every((value) => value === 0)).toBe(true);
  });

  it("stays what it is: another way of computing needs another version", () => {
    const vector = hashNgramVector("Liora plays the cello. 竜の卵");
    const written = [...vector.entries()].filter(([, value]) => value !== 0).slice(0, 3);
    expect(HASH_NGRAM.version).toBe("1");
    expect(written).toEqual([
      [41, expect.closeTo(-0.169485, 5)],
      [58, expect.closeTo(-0.211857, 5)],
      [72, expect.closeTo(0.169485, 5)],
    ]);
  });

  it("is a vector of length 1 or 0, the same for the same text, for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        const vector = hashNgramVector(text);
        expect(vector.length).toBe(HASH_NGRAM.dims);
        const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
        expect(length === 0 || Math.abs(length - 1) < 1e-5).toBe(true);
        expect(hashNgramVector(text)).toEqual(vector);
      }),
      { seed: 11 },
    );
  });
});
