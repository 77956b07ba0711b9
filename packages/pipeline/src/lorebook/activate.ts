import type { LorePosition } from "../conversation.ts";
import { field } from "../macros/field.ts";
import type { MacroValues } from "../macros/values.ts";
import type { ExcludedReason, IncludedReason, ReasonDetail } from "../reasons.ts";
import type { LorebookSettings } from "../settings.ts";
import { refusedByBudget, type Claim } from "./budget.ts";
import type { Candidate } from "./candidates.ts";
import { readDecorators } from "./decorators.ts";
import { refuse, type FilterSubject } from "./filter.ts";
import { entryKeys, signatureOf, type KeyRules } from "./key.ts";
import { matchEntry, type Match } from "./match.ts";
import type { ScanText } from "./scan-text.ts";
import { HINDSIGHT_WORK_UNITS, SCAN_WORK_UNITS, workAllowance } from "./work.ts";

/** What became of one entry. `content` is the text as it would be sent; `tokens` is `null` where it was never counted. */
export type Verdict = Candidate & { readonly content: string; readonly tokens: number | null } & (
    | { readonly included: true; readonly reason: IncludedReason; readonly detail: ReasonDetail }
    | { readonly included: false; readonly reason: ExcludedReason; readonly detail: ReasonDetail }
  );

/** Everything a pass over the books needs; clock and chance come in through `roll` only. */
export interface ActivationInput {
  /** In processing order. */
  readonly candidates: readonly Candidate[];
  readonly scan: ScanText;
  readonly subject: FilterSubject;
  readonly settings: LorebookSettings;
  readonly values: MacroValues;
  readonly capTokens: number;
  countText(text: string): number;
  /** 0 ≤ roll < 100; asked only where the probability is neither off nor 100. */
  roll(candidate: Candidate): number;
}

/** Positions the default template has a place for. */
const SLOTS: ReadonlySet<LorePosition> = new Set<LorePosition>(["before_character", "after_character"]);

/**
 * One pass over the books: every candidate gets exactly one verdict, in processing order. An entry is filtered, matched,
 * rolled for, given its place, and only then charged, so what never reaches the prompt takes no one's budget.
 */
export function activate(input: ActivationInput): readonly Verdict[] {
  const judge = judgeOf(input);
  const judged = input.candidates.map((candidate) => judge(candidate));
  const claims = judged.filter((verdict) => verdict.included).map(asClaim);
  const refused = refusedByBudget(claims, input.capTokens);
  const shortages = new Map([...refused].map(([claim, detail]) => [claim.entry, detail]));
  return judged.map((verdict) => {
    const shortage = shortages.get(verdict.entry);
    return shortage === undefined
      ? verdict
      : { ...verdict, included: false, reason: "lore_budget_exceeded", detail: shortage };
  });
}

function asClaim({ book, entry, tokens }: Verdict): Claim {
  return { book, entry, tokens: tokens ?? 0 };
}

function judgeOf(input: ActivationInput): (candidate: Candidate) => Verdict {
  const { scan, settings, values, subject } = input;
  const work = workAllowance(SCAN_WORK_UNITS);
  const hindsight = workAllowance(HINDSIGHT_WORK_UNITS);
  const rules = { ascii: keyRules("ascii", settings, values), unicode: keyRules("unicode", settings, values) };
  return (candidate) => {
    const { book, entry } = candidate;
    const refusal = refuse(entry, subject);
    if (refusal !== null) return leftOut(candidate, refusal);
    const { content, force } = readDecorators(entry.content);
    if (force === "dont_activate")
      return leftOut(candidate, { reason: "lore_decorator_unmet", detail: { decorator: force } });
    const depth = Math.floor(entry.scanDepth ?? book.scanDepth ?? settings.scanDepth);
    const { rules: own, signature } = rules[book.wordBoundaries];
    const match: Match =
      force === "activate"
        ? { active: true, reason: "lore_forced", detail: { decorator: force } }
        : matchEntry(entry, entryKeys(entry, own, signature), { scan, depth, work, hindsight });
    return match.active ? settle(candidate, content, match, input) : leftOut(candidate, match);
  };
}

function keyRules(wordBoundaries: "ascii" | "unicode", settings: LorebookSettings, values: MacroValues) {
  const { caseSensitive, matchWholeWords } = settings;
  const rules: KeyRules = { wordBoundaries, caseSensitive, matchWholeWords, values };
  return { rules, signature: signatureOf(rules) };
}

function settle(
  candidate: Candidate,
  written: string,
  match: Match & { readonly active: true },
  input: ActivationInput,
): Verdict {
  const { book, entry } = candidate;
  const rolls = entry.useProbability && entry.probability !== 100;
  const chance = rolls ? { roll: input.roll(candidate), probability: entry.probability } : null;
  if (chance !== null && chance.roll > chance.probability) {
    return leftOut(candidate, { reason: "lore_probability_failed", detail: { ...match.detail, ...chance } });
  }
  const content = field(written, input.values, { pointer: `/lorebooks/${book.id}/entries/${entry.id}/content` });
  if (content === "") return leftOut(candidate, { reason: "empty", detail: match.detail });
  const { position } = entry;
  if (!SLOTS.has(position)) return leftOut(candidate, { reason: "position_slot_missing", detail: { position } });
  const detail = chance === null ? match.detail : { ...match.detail, ...chance };
  return { ...candidate, content, tokens: input.countText(content), included: true, reason: match.reason, detail };
}

function leftOut(
  candidate: Candidate,
  why: { readonly reason: ExcludedReason; readonly detail: ReasonDetail },
): Verdict {
  const { book, entry } = candidate;
  return { book, entry, content: entry.content, tokens: null, included: false, reason: why.reason, detail: why.detail };
}
