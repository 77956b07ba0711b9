import type { ReasonDetail } from "../reasons.ts";
import { meaning } from "./meaning.ts";
import { meaningSource, type RecallVectors } from "./vectors.ts";
import { wordScores } from "./words.ts";

/** Damps the lead of the first ranks. Source of the fusion: Cormack, Clarke and Büttcher, 2009, whose k is 60. */
const RANK_OFFSET = 20;
const PRECISION = 1e6;

/** Where a text stands in one of the two rankings; rank 1 = first, equal scores share one. */
export interface RelevancePart {
  readonly score: number;
  readonly rank: number;
}

/** How relevant a text is, and by what. */
export interface Relevance {
  /** 0..1 against the best; 0 = in neither ranking. */
  readonly score: number;
  /** By shared words: BM25 against the best. `null` = not among them. */
  readonly words: RelevancePart | null;
  /** By vectors: the cosine. `null` = not among them. */
  readonly meaning: RelevancePart | null;
}

export interface Relevances {
  /** In the texts' order. */
  readonly each: readonly Relevance[];
  /** Whose vectors ranked them. */
  readonly provider: string;
  readonly missing: { readonly question: number; readonly candidates: number };
}

/**
 * How relevant each text (a memory, a lore entry) is to the queries (what the user said last, then the assistant): BM25
 * and vectors, fused by reciprocal rank. A text enters a ranking that it has a score in, of at least `minimumShare` (0..1)
 * of the best.
 */
export function relevances(
  texts: readonly { readonly content: string }[],
  queries: readonly string[],
  options: { readonly recall?: RecallVectors | null | undefined; readonly minimumShare?: number } = {},
): Relevances {
  const { minimumShare = 0 } = options;
  const source = meaningSource(options.recall);
  const { cosines, missing } = meaning(texts, queries, source);
  const byWords = ranked(wordScores(texts, queries), minimumShare);
  const byMeaning = ranked(cosines, minimumShare);
  const sums = texts.map((_text, index) => reciprocal(byWords[index]) + reciprocal(byMeaning[index]));
  const best = Math.max(0, ...sums);
  return {
    each: sums.map((sum, index) => ({
      score: sum === 0 ? 0 : Math.round((sum / best) * PRECISION) / PRECISION,
      words: byWords[index] ?? null,
      meaning: byMeaning[index] ?? null,
    })),
    provider: source.provider,
    missing,
  };
}

/** What the audit shows of a relevance. */
export function relevanceEvidence({ score, words, meaning: close }: Relevance): ReasonDetail {
  return { score, words: words && { ...words }, meaning: close && { ...close } };
}

function reciprocal(part: RelevancePart | null | undefined): number {
  return part ? 1 / (RANK_OFFSET + part.rank) : 0;
}

function ranked(scores: readonly number[], minimumShare: number): readonly (RelevancePart | null)[] {
  const best = Math.max(0, ...scores);
  const enters = (score: number): boolean => score > 0 && score >= minimumShare * best;
  const sorted = scores.filter(enters).sort((a, b) => b - a);
  const rankOf = new Map<number, number>();
  sorted.forEach((score, index) => rankOf.set(score, rankOf.get(score) ?? index + 1));
  return scores.map((score) => (enters(score) ? { score, rank: rankOf.get(score) ?? 0 } : null));
}
