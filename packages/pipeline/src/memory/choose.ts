import type { Memory } from "../conversation.ts";
import type { ExcludedReason, IncludedReason, ReasonDetail } from "../reasons.ts";
import { relevanceEvidence, type Relevance } from "./relevance.ts";

/** A memory with its relevance and its rank among all, 1 = first. */
export interface RankedMemory {
  readonly memory: Memory;
  readonly relevance: Relevance;
  readonly rank: number;
}

/** What became of one memory; `tokens` is `null` where it was never counted. */
export type MemoryVerdict = RankedMemory & { readonly tokens: number | null } & (
    | { readonly included: true; readonly reason: IncludedReason; readonly detail: ReasonDetail }
    | { readonly included: false; readonly reason: ExcludedReason; readonly detail: ReasonDetail }
  );

/** Pinned first, then by relevance; ties newest first, then by id. */
export function rankMemories(memories: readonly Memory[], relevances: readonly Relevance[]): readonly RankedMemory[] {
  return memories
    .map((memory, index) => ({ memory, relevance: relevances[index] ?? NONE }))
    .sort(
      (a, b) =>
        Number(b.memory.pinned) - Number(a.memory.pinned) ||
        b.relevance.score - a.relevance.score ||
        compareText(b.memory.createdAt, a.memory.createdAt) ||
        compareText(a.memory.id, b.memory.id),
    )
    .map((ranked, index) => ({ ...ranked, rank: index + 1 }));
}

const NONE: Relevance = { score: 0, words: null, meaning: null };

/** Compares by code unit, so that the order never depends on a locale. */
export function compareText(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/**
 * How good, how many and how dear recalled memories may be. `minimumScore` (0..1) was asked of each ranking, so that
 * whatever is in one has it; `capTokens` bounds all together.
 */
export interface ChoiceLimits {
  readonly minimumScore: number;
  readonly topK: number;
  readonly capTokens: number;
  readonly promptMessageIds: ReadonlySet<string>;
  countText(text: string): number;
}

interface Refusal {
  readonly reason: ExcludedReason;
  readonly detail?: ReasonDetail;
  readonly tokens?: number;
}

/** What was taken so far. */
interface Chosen {
  /** Ids and texts taken, each with the id of the memory that brought it. */
  readonly seen: Map<string, string>;
  count: number;
  usedTokens: number;
  overflowed: boolean;
}

/**
 * One verdict per memory, in rank order. Pinned memories are refused only when blank or said twice, and are charged first.
 * The others leave by rank: once one does not fit, no less relevant one is tried; only one that could never fit (dearer
 * than the whole budget) is passed over.
 */
export function chooseMemories(ranked: readonly RankedMemory[], limits: ChoiceLimits): readonly MemoryVerdict[] {
  const chosen: Chosen = { seen: new Map(), count: 0, usedTokens: 0, overflowed: false };
  return ranked.map((candidate) => {
    const content = candidate.memory.content.trim();
    const refusal = refuseIrrelevant(candidate, content, chosen, limits) ?? refuseRepeated(candidate, content, chosen);
    if (refusal !== null) return leftOut(candidate, refusal);
    const tokens = limits.countText(content);
    const dear = refuseDear(candidate, tokens, chosen, limits);
    if (dear !== null) return leftOut(candidate, dear);
    take(candidate, content, tokens, chosen);
    const reason = candidate.memory.pinned ? "memory_pinned" : "memory_relevant";
    return { ...candidate, tokens, included: true, reason, detail: evidence(candidate) };
  });
}

function refuseRepeated({ memory }: RankedMemory, content: string, { seen }: Chosen): Refusal | null {
  const twin = seen.get(idKey(memory.id)) ?? seen.get(textKey(content));
  return twin === undefined ? null : { reason: "memory_duplicate", detail: { duplicateOf: twin } };
}

function refuseIrrelevant(
  { memory, relevance }: RankedMemory,
  content: string,
  chosen: Chosen,
  limits: ChoiceLimits,
): Refusal | null {
  if (content === "") return { reason: "empty" };
  if (memory.pinned) return null;
  const { minimumScore, topK, promptMessageIds } = limits;
  const source = memory.sourceMessageId;
  if (source !== null && promptMessageIds.has(source))
    return { reason: "memory_source_in_prompt", detail: { messageId: source } };
  if (relevance.score <= 0) return { reason: "memory_below_threshold", detail: { minimumScore } };
  return chosen.count >= topK ? { reason: "memory_top_k", detail: { topK } } : null;
}

function refuseDear(
  { memory }: RankedMemory,
  tokens: number,
  chosen: Chosen,
  { capTokens }: ChoiceLimits,
): Refusal | null {
  const { usedTokens } = chosen;
  if (memory.pinned || (!chosen.overflowed && usedTokens + tokens <= capTokens)) return null;
  chosen.overflowed ||= tokens <= capTokens;
  return { reason: "memory_budget_exceeded", detail: { capTokens, usedTokens, needTokens: tokens }, tokens };
}

function take({ memory }: RankedMemory, content: string, tokens: number, chosen: Chosen): void {
  chosen.seen.set(idKey(memory.id), memory.id).set(textKey(content), memory.id);
  chosen.count += 1;
  chosen.usedTokens += tokens;
}

function leftOut(candidate: RankedMemory, { reason, detail, tokens }: Refusal): MemoryVerdict {
  return {
    ...candidate,
    tokens: tokens ?? null,
    included: false,
    reason,
    detail: { ...evidence(candidate), ...detail },
  };
}

function evidence({ relevance, rank }: RankedMemory): ReasonDetail {
  return { ...relevanceEvidence(relevance), rank };
}

function idKey(id: string): string {
  return `id ${id}`;
}

// Two memories say the same if they differ in case, punctuation and spacing only.
function textKey(text: string): string {
  const words = text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, " ");
  return `text ${words.trim()}`;
}
