import MiniSearch from "minisearch";
import { isUnspaced, terms } from "./terms.ts";

/** Distinct words of the query that are searched for, the user's first. */
const MAX_QUERY_TERMS = 64;

const FUZZINESS = 0.2;
const FUZZY_ABOVE_LETTERS = 4;
const PREFIX_ABOVE_LETTERS = 3;
const SCORE_PRECISION = 1e6;

interface Document {
  readonly id: number;
  readonly text: string;
}

/** What is ranked: anything with a text. */
type Texts = readonly { readonly content: string }[];

const indexes = new WeakMap<Texts, MiniSearch<Document>>();

/**
 * How much each text (a memory, a lore entry) shares words with the queries (the most telling first): BM25, divided by
 * the best score, so 0..1, in the texts' order; 0 = no word in common. The index is made once per array.
 */
export function wordScores(texts: Texts, queries: readonly string[]): readonly number[] {
  const scores = texts.map(() => 0);
  const query = queryTerms(queries);
  if (texts.length === 0 || query.length === 0) return scores;
  const results = indexOf(texts).search(query.join(" "));
  const best = results[0]?.score ?? 1;
  for (const { id, score } of results)
    scores[Number(id)] = Math.round((score / best) * SCORE_PRECISION) / SCORE_PRECISION;
  return scores;
}

function queryTerms(queries: readonly string[]): readonly string[] {
  const distinct = new Set<string>();
  for (const query of queries) {
    for (const term of terms(query)) {
      if (distinct.size >= MAX_QUERY_TERMS) return [...distinct];
      distinct.add(term);
    }
  }
  return [...distinct];
}

function indexOf(texts: Texts): MiniSearch<Document> {
  const known = indexes.get(texts);
  if (known !== undefined) return known;
  const index = new MiniSearch<Document>({
    fields: ["text"],
    tokenize: (text) => [...terms(text)],
    processTerm: (term) => term,
    searchOptions: {
      tokenize: (text) => text.split(" "),
      fuzzy: (term) => !isUnspaced(term) && term.length > FUZZY_ABOVE_LETTERS && FUZZINESS,
      prefix: (term) => !isUnspaced(term) && term.length > PREFIX_ABOVE_LETTERS,
    },
  });
  index.addAll(texts.map(({ content }, id) => ({ id, text: content })));
  indexes.set(texts, index);
  return index;
}
