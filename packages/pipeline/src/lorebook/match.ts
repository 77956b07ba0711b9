import type { LoreEntry, SelectiveLogic } from "../conversation.ts";
import type { ExcludedReason, IncludedReason, ReasonDetail } from "../reasons.ts";
import type { Folding } from "./folding.ts";
import { searchKey, type EntryKeys, type Key, type KeyOutcome } from "./key.ts";
import { MAX_SCAN_DEPTH, type ScanText, type ScanView } from "./scan-text.ts";
import type { Work } from "./work.ts";

/** Whether an entry is called for, and the evidence. */
export type Match =
  | { readonly active: true; readonly reason: IncludedReason; readonly detail: ReasonDetail }
  | { readonly active: false; readonly reason: ExcludedReason; readonly detail: ReasonDetail };

/** What an entry is matched against, and how much work that may be. */
export interface MatchContext {
  readonly scan: ScanText;
  /** Messages this entry sees. */
  readonly depth: number;
  readonly work: Work;
  /** For looking beyond the depth, only to say why an entry stayed out. */
  readonly hindsight: Work;
}

/**
 * Does the scanned text call the entry? A constant entry always; else any primary key, then the secondary ones by the
 * entry's logic, both in the same text.
 */
export function matchEntry(entry: LoreEntry, keys: EntryKeys, context: MatchContext): Match {
  if (entry.constant) return { active: true, reason: "lore_constant", detail: {} };
  if (keys.primary.length === 0) return { active: false, reason: "lore_no_keys", detail: {} };
  const { scan, depth, work } = context;
  const view = scan.view(depth);
  const primary = firstHit(keys.primary, view, work);
  if (primary.hit === null) return primary.open === null ? notMatched(keys, context) : undecided(primary.open);
  const detail = evidence(primary.hit, scan);
  if (keys.secondary.length === 0) return { active: true, reason: "lore_key_match", detail };
  return matchSecondary(entry.selectiveLogic, keys.secondary, detail, view, work);
}

interface Hit {
  readonly key: Key;
  readonly at: number | null;
  readonly folding: Folding;
}

interface Undecided {
  readonly key: Key;
  readonly outcome: "rejected" | "timeout";
}

function firstHit(
  keys: readonly Key[],
  view: ScanView,
  work: Work,
): { readonly hit: Hit | null; readonly open: Undecided | null } {
  let open: Undecided | null = null;
  for (const key of keys) {
    const found = searchKey(key, view, work);
    if (found.outcome === "hit") return { hit: { key, at: found.at, folding: found.folding }, open: null };
    if (found.outcome !== "miss") open ??= { key, outcome: found.outcome };
  }
  return { hit: null, open };
}

function evidence({ key, at, folding }: Hit, scan: ScanText): ReasonDetail {
  return at === null ? { key: key.written } : { key: key.written, ...scan.place(at, folding) };
}

function undecided({ key, outcome }: Undecided): Match {
  return {
    active: false,
    reason: outcome === "rejected" ? "regex_rejected" : "regex_timeout",
    detail: { key: key.written },
  };
}

function notMatched(keys: EntryKeys, { scan, depth, hindsight }: MatchContext): Match {
  const scanDepth = Math.max(0, Math.min(depth, MAX_SCAN_DEPTH));
  if (scanDepth < scan.messageCount) {
    const { hit } = firstHit(keys.primary, scan.view(MAX_SCAN_DEPTH), hindsight);
    const detail = hit === null ? null : { ...evidence(hit, scan), scanDepth };
    if (detail !== null) return { active: false, reason: "lore_outside_scan_depth", detail };
  }
  return { active: false, reason: "lore_no_key_match", detail: { scanDepth } };
}

function matchSecondary(
  logic: SelectiveLogic,
  keys: readonly Key[],
  primary: ReasonDetail,
  view: ScanView,
  work: Work,
): Match {
  const outcomes = keys.map((key): readonly [Key, KeyOutcome["outcome"]] => [key, searchKey(key, view, work).outcome]);
  const written = (wanted: KeyOutcome["outcome"]) =>
    outcomes.filter(([, outcome]) => outcome === wanted).map(([key]) => key.written);
  const verdict = decide(
    logic,
    outcomes.map(([, outcome]) => outcome),
  );
  if (verdict === "open") {
    const open = outcomes.find(([, outcome]) => outcome === "rejected" || outcome === "timeout");
    if (open !== undefined)
      return undecided({ key: open[0], outcome: open[1] === "rejected" ? "rejected" : "timeout" });
  }
  const detail = { ...primary, logic, secondaryMatched: written("hit"), secondaryMissing: written("miss") };
  return verdict === "met"
    ? { active: true, reason: "lore_secondary_match", detail }
    : { active: false, reason: "lore_secondary_unmet", detail };
}

interface LogicRule {
  /** The outcome of a single key that settles the question, and how. */
  readonly decisive: "hit" | "miss";
  readonly settled: "met" | "unmet";
  /** The answer when no key was decisive. */
  readonly otherwise: "met" | "unmet";
}

const LOGIC: Readonly<Record<SelectiveLogic, LogicRule>> = {
  and_any: { decisive: "hit", settled: "met", otherwise: "unmet" },
  not_all: { decisive: "miss", settled: "met", otherwise: "unmet" },
  not_any: { decisive: "hit", settled: "unmet", otherwise: "met" },
  and_all: { decisive: "miss", settled: "unmet", otherwise: "met" },
};

// A key that could not be tested leaves the question open unless another one settles it.
function decide(logic: SelectiveLogic, outcomes: readonly KeyOutcome["outcome"][]): "met" | "unmet" | "open" {
  const rule = LOGIC[logic];
  if (outcomes.includes(rule.decisive)) return rule.settled;
  return outcomes.includes("rejected") || outcomes.includes("timeout") ? "open" : rule.otherwise;
}
