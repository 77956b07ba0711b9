import { describe, expect, it } from "vitest";
import { EDGE_TEXTS, fuzzTexts, REAL_TEXTS } from "../testing/token-texts.ts";
import { countEncoded } from "./encoder.ts";
import { isExactCut } from "./exact-cut.ts";

function cutsOf(text: string): readonly number[] {
  return Array.from({ length: text.length + 1 }, (_, at) => at).filter((at) => isExactCut(text, at));
}

describe("isExactCut", () => {
  it("is between a letter and the space of the next word, and behind a line break between words", () => {
    expect(cutsOf("one two, three  four\nfive 6\nsix 7 eight\n\nnine")).toEqual([3, 21, 28]);
  });

  it("looks at whole characters", () => {
    expect(cutsOf("𝐀 𝐁 🪑 x e\u0301 y")).toEqual([2, 10, 13]);
    expect(cutsOf("\ud800 x \udc00")).toEqual([]);
  });

  it.each(["o200k_base", "cl100k_base"] as const)("never changes a count of %s", (encoding) => {
    let cuts = 0;
    for (const text of [...Object.values(REAL_TEXTS), ...EDGE_TEXTS, ...fuzzTexts(7, 5_000)]) {
      for (const at of cutsOf(text)) {
        cuts += 1;
        const sides = countEncoded(encoding, text.slice(0, at)) + countEncoded(encoding, text.slice(at));
        const whole = countEncoded(encoding, text);
        if (sides !== whole) expect({ text, at, sides }).toEqual({ text, at, sides: whole });
      }
    }
    expect(cuts).toBeGreaterThan(500);
  });
});
