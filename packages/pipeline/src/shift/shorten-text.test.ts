import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isExactCut } from "../tokens/exact-cut.ts";
import { PROFILES } from "../tokens/profiles.ts";
import { clipText, shortenText } from "./shorten-text.ts";

const RUNS = { seed: 20_260_104, numRuns: 500 };
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
const borders = (text: string) => new Set([...graphemes.segment(text)].map(({ index }) => index).concat(text.length));

describe("shortenText", () => {
  it("keeps head and tail around a mark that says how much is missing", () => {
    const short = shortenText("The first line is long.\nThe middle does not matter.\nThe last line decides.", 40);
    expect(short).toMatch(/^The first .*\n\[… \d+ characters left out …\]\n.*decides\.$/s);
  });

  it("leaves alone what is short enough", () => {
    expect([shortenText("short", 5), clipText("short", 5)]).toEqual(["short", "short"]);
  });

  it("cuts between words where there are any", () => {
    expect(clipText("alpha beta gamma", 12)).toBe("alpha beta…");
    expect(clipText("x".repeat(100), 10)).toBe(`${"x".repeat(10)}…`);
  });

  it("cuts where the head costs what it costs in the whole, if such a place is near", () => {
    const text = "A lamp, lit at six: 12 candles. ".repeat(20);
    const [head = ""] = shortenText(text, 100).split("\n[");
    expect(isExactCut(text, head.length)).toBe(true);
    const count = PROFILES["openai:o200k_base"].countText;
    expect(count(head) + count(text.slice(head.length))).toBe(count(text));
  });

  it("cuts no grapheme in two: flags, families, accents, Hangul", () => {
    const parts = fc.constantFrom("👨‍👩‍👧‍👦", "🇩🇪", "e\u0301", "각", "नि", "a", " ", "海");
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 60 }), fc.integer({ min: 0, max: 200 }), (words, keep) => {
        const text = `a${words.join("")}z`;
        const [head = "", tail] = shortenText(text, keep).split(/\n?\[… \d+ characters left out …\]\n?/u);
        if (tail === undefined) return;
        const starts = borders(text);
        expect(text.startsWith(head) && starts.has(head.length)).toBe(true);
        expect(text.endsWith(tail) && starts.has(text.length - tail.length)).toBe(true);
      }),
      RUNS,
    );
  });

  it("makes nothing ill-formed", () => {
    const texts = fc.string({ unit: "binary", minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(texts, fc.integer({ min: 0, max: 300 }), (text, keep) => {
        const lone = /\p{Surrogate}/u;
        if (!lone.test(text)) expect(lone.test(shortenText(text, keep))).toBe(false);
      }),
      RUNS,
    );
  });
});
