import { relevances } from "./relevance.ts";
import type { RecallVectors } from "./vectors.ts";

/** Texts, and questions of which each is answered by one of them. */
export interface RelevanceSet {
  readonly blocks: readonly { readonly id: string; readonly text: string }[];
  readonly queries: readonly { readonly text: string; readonly relevant: string }[];
}

/**
 * How well recall finds what is asked for, 0..1: the mean of 1 / rank of the right text; 0 for one that is not found. Of
 * texts with equal relevance the later one counts as the first, as newer memories do.
 */
export function meanReciprocalRank({ blocks, queries }: RelevanceSet, recall?: RecallVectors): number {
  const texts = blocks.map(({ text }) => ({ content: text }));
  const ranks = queries.map(({ text, relevant }) => {
    const scores = relevances(texts, [text], { recall }).each.map(({ score }) => score);
    const right = blocks.findIndex(({ id }) => id === relevant);
    const own = scores[right] ?? 0;
    if (own === 0) return 0;
    const ahead = scores.filter((score, index) => score > own || (score === own && index > right));
    return 1 / (ahead.length + 1);
  });
  return ranks.reduce((sum, rank) => sum + rank, 0) / Math.max(1, ranks.length);
}
