import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LoreEntry } from "../conversation.ts";
import { DEFAULT_LOREBOOK_SETTINGS } from "../settings.ts";
import { aLorebook, aLoreEntry } from "../testing/conversation.ts";
import { isRequired, loreCap, refusedByBudget, type Claim } from "./budget.ts";

const claim = (id: string, tokens: number, part: Partial<LoreEntry> = {}, bookTokens: number | null = null): Claim => ({
  book: { ...aLorebook([]), budgetTokens: bookTokens },
  entry: aLoreEntry(id, { constant: false, ...part }),
  tokens,
});
const refusedIds = (claims: readonly Claim[], cap: number) =>
  [...refusedByBudget(claims, cap).keys()].map(({ entry }) => entry.id);

describe("loreCap", () => {
  it.each([
    [25, 0, 8_000, 2_000],
    [25, 500, 8_000, 500],
    [0, 0, 1_000, 1],
    [33, 0, 10, 3],
    [250, 0, 100, 100],
    [25, 0, -5, 1],
  ])("%i %% with cap %i of %i tokens is %i", (budgetPercent, budgetCapTokens, budgetTokens, cap) => {
    expect(loreCap({ ...DEFAULT_LOREBOOK_SETTINGS, budgetPercent, budgetCapTokens }, budgetTokens)).toBe(cap);
  });
});

describe("refusedByBudget", () => {
  it("stops at the first entry that does not stay below the cap, and tries no smaller one", () => {
    expect(refusedIds([claim("a", 10), claim("b", 15), claim("c", 1)], 25)).toEqual(["b", "c"]);
  });

  it("tells what was asked, what was used, and by whom", () => {
    const detail = [...refusedByBudget([claim("a", 10), claim("b", 20)], 25).values()][0];
    expect(detail).toEqual({ capTokens: 25, usedTokens: 10, needTokens: 20, winners: ["a"], scope: "all" });
  });

  it("lets entries in that ignore the budget, after an overflow too", () => {
    expect(refusedIds([claim("a", 30), claim("b", 40, { ignoreBudget: true }), claim("c", 1)], 25)).toEqual(["a", "c"]);
  });

  it("charges required entries first and never refuses them", () => {
    const law = claim("law", 24, { constant: true });
    expect(refusedIds([claim("a", 10), law], 25)).toEqual(["a"]);
    expect(refusedIds([claim("big", 99, { required: true })], 25)).toEqual([]);
    expect(refusedIds([claim("b", 99, { constant: true, required: false })], 25)).toEqual(["b"]);
  });

  it("holds a book to its own budget and goes on with the others", () => {
    const own = claim("own", 30, {}, 20);
    const other = { ...claim("other", 30), book: { ...aLorebook([]), id: "book_2" } };
    expect(refusedIds([own, claim("own2", 5, {}, 20), other], 100)).toEqual(["own", "own2"]);
  });

  it("never spends more than the cap on optional entries", () => {
    const anyClaim = fc.record({ tokens: fc.nat(50), required: fc.boolean() });
    fc.assert(
      fc.property(fc.array(anyClaim), fc.nat(200), (wanted, cap) => {
        const claims = wanted.map(({ tokens, required }, index) => claim(`e${index}`, tokens, { required }));
        const refused = refusedByBudget(claims, cap);
        const accepted = claims.filter((one) => !refused.has(one));
        const requiredTokens = total(accepted.filter(isRequired));
        expect([...refused.keys()].some(isRequired)).toBe(false);
        expect(total(accepted)).toBeLessThanOrEqual(Math.max(cap, requiredTokens));
      }),
      { seed: 7 },
    );
  });
});

function total(claims: readonly Claim[]): number {
  return claims.reduce((sum, { tokens }) => sum + tokens, 0);
}
