import { HASH_NGRAM, hashNgramVector } from "./hash-ngram.ts";

/**
 * Vectors as a host brings them: of one provider, each of length 1 or all zeros (a text the provider cannot judge), by
 * `normalisedText`. What is not in the map is not known yet, and is ranked by its words alone.
 */
export interface RecallVectors {
  /** Named in the audit. */
  readonly provider: string;
  /** Texts are unrelated to the question below this cosine: 0..1, the provider's own. */
  readonly floor: number;
  readonly vectors: ReadonlyMap<string, Float32Array>;
}

/** Where meaning comes from: `vectorOf` is `null` for a text whose vector is not known. */
export interface MeaningSource {
  readonly provider: string;
  readonly floor: number;
  vectorOf(text: string): Float32Array | null;
}

/** The form under which a text has its vector: composed, its white space single, none around it. */
export function normalisedText(text: string): string {
  return text.normalize("NFKC").replaceAll(/\s+/g, " ").trim();
}

/** The host's vectors; without any, the built-in ones, which are computed where they are asked for. */
export function meaningSource(given: RecallVectors | null | undefined): MeaningSource {
  if (!given) return BUILT_IN;
  return {
    provider: given.provider,
    floor: given.floor,
    vectorOf: (text) => given.vectors.get(normalisedText(text)) ?? null,
  };
}

/** Texts whose vectors are kept, the oldest leaving first: 4 KB each. */
const MOST_KEPT = 2_048;
const kept = new Map<string, Float32Array>();

const BUILT_IN: MeaningSource = { provider: HASH_NGRAM.id, floor: HASH_NGRAM.floor, vectorOf: keptVector };

/** A chat asks with the same memories turn after turn. */
function keptVector(text: string): Float32Array {
  const known = kept.get(text);
  const vector = known ?? hashNgramVector(text);
  // Taken out and put back: it is the newest again.
  kept.delete(text);
  kept.set(text, vector);
  const [oldest] = kept.keys();
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  return vector;
}
