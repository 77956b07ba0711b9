import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_PATTERN_LENGTH, readPattern, searchPattern, type PatternOutcome } from "./pattern.ts";
import { SCAN_WORK_UNITS, workAllowance } from "./work.ts";

function search(key: string, text: string, units = SCAN_WORK_UNITS): PatternOutcome {
  const pattern = readPattern(key);
  if (pattern === null) throw new Error(`${key} is no pattern`);
  return searchPattern(pattern, text, workAllowance(units));
}
const outcome = (key: string, text: string) => search(key, text).outcome;

describe("readPattern", () => {
  it.each(["king", "/", "//", "/a", "/a/b/", "/a/x", "a/b/"])("takes %j for plain text", (key) => {
    expect(readPattern(key)).toBeNull();
  });

  it("reads pattern and flags", () => {
    expect(readPattern("/a\\/b/gi")).toMatchObject({ source: "a\\/b", flags: "gi" });
  });
});

describe("searchPattern", () => {
  it.each([
    ["/king/", "liking", 2],
    ["/KING/i", "liking", 2],
    ["/^User:/m", "\u0001User: hi", null],
    ["/\\x01User:[^\\x01]*?hello/", "\u0001User: hello", 0],
    ["/a.c/s", "a\nc", 0],
    ["/a.c/", "a\nc", null],
    ["/b/y", "ab", null],
    ["/(?<=red )dragon/", "a red dragon", 6],
    ["/(?<!red )dragon/", "a red dragon", null],
    ["/(?<who>elf|orc)s/", "two orcs", 4],
    ["/\\p{Lu}\\p{L}+/u", "ein Öl", 4],
    ["/\\u{1F409}/u", "x🐉", 1],
    ["/a\\sb/", "a\u00a0b", 0],
    ["/a[\\s]b/", "a\u3000b", 0],
    ["/a\\Sb/", "a\u00a0b", null],
    ["/\\//", "a/b", 1],
  ])("%s in %j is at %j", (key, text, at) => {
    expect(search(key, text)).toEqual(at === null ? { outcome: "miss" } : { outcome: "hit", at });
  });

  it.each(["/(a)\\1/", "/(?<n>a)\\k<n>/", "/(?=a)b/", "/\\p{L}/", "/\\Qa\\E/", "/a\\z/", "/[[:alpha:]]/", "/[\\b]/"])(
    "rejects %s, which only a backtracking engine can run as meant",
    (key) => {
      expect(outcome(key, "aa")).toBe("rejected");
    },
  );

  it.each(["/(unclosed/", "/a**/", "/[/", "/a/gg"])("takes %s for literal text, as no engine compiles it", (key) => {
    expect(outcome(key, "text")).toBe("literal");
  });

  it("rejects what is too long or spells out to too much", () => {
    expect(outcome(`/${"a".repeat(MAX_PATTERN_LENGTH + 1)}/`, "a")).toBe("rejected");
    expect(outcome("/((a{50}){50})b/", "a")).toBe("rejected");
    expect(outcome(`/(${"ab|".repeat(300)}){900}/`, "a")).toBe("rejected");
  });

  it("gives the same answer as JavaScript for whatever it accepts", () => {
    const atom = fc.constantFrom(
      "a",
      "b",
      "é",
      ".",
      "\\w",
      "\\s",
      "\\d",
      "\\b",
      "[ab]",
      "[^a]",
      "[\\s\\d]",
      "(?:ab|b)",
      "(a)",
      "^",
      "$",
      "\\n",
      "(?<=a)",
      "\\u0061",
    );
    const quantifier = fc.constantFrom("", "", "*", "+", "?", "{2}", "{0,2}", "*?");
    const source = fc
      .array(fc.tuple(atom, quantifier), { minLength: 1, maxLength: 5 })
      .map((parts) => parts.map((part) => part.join("")).join(""));
    const text = fc.string({
      unit: fc.constantFrom("a", "b", "A", "1", " ", "\n", "é", "_", "\u00a0"),
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(source, fc.constantFrom("", "i", "m", "s", "ims"), text, (pattern, flags, haystack) => {
        const found = search(`/${pattern}/${flags}`, haystack);
        if (found.outcome === "rejected" || found.outcome === "literal") return;
        fc.pre(compiles(pattern, flags));
        const index = new RegExp(pattern, flags).exec(haystack)?.index;
        expect(found).toEqual(index === undefined ? { outcome: "miss" } : { outcome: "hit", at: index });
      }),
      { seed: 7, numRuns: 2_000 },
    );
  });
});

function compiles(source: string, flags: string): boolean {
  try {
    return new RegExp(source, flags).flags.length >= 0;
  } catch {
    return false;
  }
}

describe("hostile patterns", () => {
  const text = `${Array.from({ length: 10_000 }, (_, index) => ((index * 7919) % 13 < 6 ? "a" : "b")).join("")}#cQ`;

  it.each([
    ".*.*.*Z",
    "(a+)+$",
    "(x+x+)+y",
    "(a|b)*a(a|b){100}c",
    "(?:a?){300}a{300}",
    "[ab]*a[ab]{900}c",
    "(?<=a[ab]{50})Z",
    "(\\w+\\s?)+$",
  ])("%s ends at once or runs out of its allowance", (source) => {
    const start = performance.now();
    search(`/${source}/`, text);
    expect(performance.now() - start).toBeLessThan(2_000);
  });

  it("all together use no more than the scan's allowance", () => {
    const work = workAllowance(1_000_000);
    const outcomes = Array.from({ length: 50 }, (_, index) => {
      const pattern = readPattern(`/(a|b)*a(a|b){9}c${index}/`);
      return pattern === null ? null : searchPattern(pattern, text.slice(0, 1_000), work).outcome;
    });
    expect(outcomes.slice(0, 3)).toEqual(["miss", "miss", "miss"]);
    expect(outcomes.at(-1)).toBe("timeout");
  });
});
