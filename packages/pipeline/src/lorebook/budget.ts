import type { LorebookSettings } from "../settings.ts";
import type { ReasonDetail } from "../reasons.ts";
import type { Candidate } from "./candidates.ts";

/** An entry that is called for and has a place, with what it costs. */
export interface Claim extends Candidate {
  readonly tokens: number;
}

const WINNERS_NAMED = 20;

/** Tokens lore may take: a share of the prompt budget, rounded, 0 becoming 1 as in the reference; then the absolute cap. */
export function loreCap(settings: LorebookSettings, budgetTokens: number): number {
  const percent = Math.min(100, Math.max(0, settings.budgetPercent));
  const share = Math.round((percent * Math.max(0, budgetTokens)) / 100) || 1;
  return settings.budgetCapTokens > 0 ? Math.min(share, settings.budgetCapTokens) : share;
}

/** Required = the entry's own flag, else its `constant`. */
export function isRequired({ entry }: Candidate): boolean {
  return entry.required ?? entry.constant;
}

/**
 * Who pays out of the lore budget: the claims that do not fit, with the evidence. Required entries are charged first and
 * never refused, `ignoreBudget` ones are charged and never refused; the others in order until the first that does not stay
 * below the cap, after which no smaller one is tried. The same holds inside a book with a budget of its own.
 */
export function refusedByBudget(claims: readonly Claim[], capTokens: number): ReadonlyMap<Claim, ReasonDetail> {
  const purse = openPurse(capTokens);
  const refused = new Map<Claim, ReasonDetail>();
  for (const claim of claims) if (isRequired(claim)) purse.charge(claim);
  for (const claim of claims) {
    if (isRequired(claim)) continue;
    const shortage = claim.entry.ignoreBudget ? null : purse.shortage(claim);
    if (shortage === null) purse.charge(claim);
    else refused.set(claim, shortage);
  }
  return refused;
}

interface Spent {
  readonly capTokens: number;
  usedTokens: number;
  overflowed: boolean;
  readonly winners: string[];
}

function openPurse(capTokens: number): { charge(claim: Claim): void; shortage(claim: Claim): ReasonDetail | null } {
  const all: Spent = { capTokens, usedTokens: 0, overflowed: false, winners: [] };
  const perBook = new Map<string, Spent>();
  const purses = ({ book }: Claim): readonly Spent[] => {
    if (book.budgetTokens === null) return [all];
    const own = perBook.get(book.id) ?? { capTokens: book.budgetTokens, usedTokens: 0, overflowed: false, winners: [] };
    perBook.set(book.id, own);
    return [own, all];
  };
  return {
    charge(claim) {
      for (const spent of purses(claim)) {
        spent.usedTokens += claim.tokens;
        if (spent.winners.length < WINNERS_NAMED) spent.winners.push(claim.entry.id);
      }
    },
    shortage(claim) {
      const short = purses(claim).find(
        (spent) => spent.overflowed || spent.usedTokens + claim.tokens >= spent.capTokens,
      );
      if (short === undefined) return null;
      short.overflowed = true;
      return {
        capTokens: short.capTokens,
        usedTokens: short.usedTokens,
        needTokens: claim.tokens,
        winners: [...short.winners],
        scope: short === all ? "all" : "book",
      };
    },
  };
}
