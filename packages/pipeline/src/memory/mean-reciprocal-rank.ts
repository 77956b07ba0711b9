import { readFileSync } from "node:fs";
import { relevances } from "../memory/relevance.ts";
import type { RecallVectors } from "../memory/vectors.ts";

/** Texts and how people ask for them (`fixtures/relevance.json`). */
export interface RelevanceSet {
  readonly blocks: readonly { readonly id: string; readonly text: string }[];
  readonly queries: readonly RelevanceQuery[];
}

export interface RelevanceQuery {
  readonly kind: string;
  readonly half: "tuning" | "test";
  /** Id of the one block that answers it. */
  readonly relevant: string;
  readonly text: string;
}

export function readRelevanceSet(): RelevanceSet {
  return JSON.parse(readFileSync(new URL("../../fixtures/relevance.json", import.meta.url), "utf8")) as RelevanceSet;
}

/** Mean of 1 / rank of the right block, over the queries that are asked; equals count by the blocks' order, the last first. */
export function meanReciprocalRank(
  { blocks, queries }: RelevanceSet,
  asked: (query: RelevanceQuery) => boolean,
  recall?: RecallVectors,
): number {
  const texts = blocks.map(({ text }) => ({ content: text }));
  const ranks = queries.filter(asked).map(({ text, relevant }) => {
    const scores = relevances(texts, [text], { recall }).each.map(({ score }) => score);
    const right = blocks.findIndex(({ id }) => id === relevant);
    const own = scores[right] ?? 0;
    if (own === 0) return 0;
    const ahead = scores.filter((score, index) => score > own || (score === own && index > right));
    return 1 / (ahead.length + 1);
  });
  return ranks.reduce((sum, rank) => sum + rank, 0) / Math.max(1, ranks.length);
}
