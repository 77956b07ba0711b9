import { isUnspaced, terms } from "./terms.ts";

/** The built-in vectors: name, length, and the cosine below which texts are unrelated. Computed anew = another version. */
export const HASH_NGRAM = { id: "hash-ngram-1024", version: "1", dims: 1024, floor: 0.12 } as const;

/** Letters of the pieces a word is cut into, its two edges counted as letters. */
const SHORTEST_PIECE = 3;
const LONGEST_PIECE = 4;
/** What one piece weighs against the whole word. */
const PIECE_WEIGHT = 0.8;

const EDGE = 32;
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
/** Set in the seed of whole words, so that a word and a piece spelled alike are two features. */
const WHOLE_WORD = 0x5bd1e995;

/**
 * What a text says, by its spelling: words and pieces of words, hashed with a sign into 1,024 numbers, repetitions damped
 * by 1 + ln(count), length 1. Nothing but common words gives zeros. Any language, and always the same; inflections and
 * slips of the pen stay close, paraphrases do not. Source of the signed hashing: Weinberger et al., 2009.
 */
export function hashNgramVector(text: string): Float32Array {
  const [words, pieces] = [new Map<number, number>(), new Map<number, number>()];
  for (const term of terms(text)) {
    countUp(words, hashUnits(term, 0, term.length, FNV_OFFSET ^ WHOLE_WORD));
    // A pair of an unspaced script is its own smallest piece.
    if (!isUnspaced(term)) countPieces(term, pieces);
  }
  const vector = new Float32Array(HASH_NGRAM.dims);
  addFeatures(vector, words, 1);
  addFeatures(vector, pieces, PIECE_WEIGHT);
  return normalise(vector);
}

/** Divides by the length, in place. Zeros stay zeros. */
export function normalise(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  if (squares === 0) return vector;
  const factor = 1 / Math.sqrt(squares);
  for (let index = 0; index < vector.length; index += 1) vector[index] = (vector[index] ?? 0) * factor;
  return vector;
}

function countPieces(term: string, counts: Map<number, number>): void {
  for (let from = -1; from <= term.length; from += 1) {
    let hash = FNV_OFFSET;
    for (let length = 1; length <= LONGEST_PIECE && from + length <= term.length + 1; length += 1) {
      hash = mixUnit(hash, unitAt(term, from + length - 1));
      if (length >= SHORTEST_PIECE) countUp(counts, hash);
    }
  }
}

function unitAt(term: string, index: number): number {
  return index < 0 || index >= term.length ? EDGE : term.charCodeAt(index);
}

function hashUnits(text: string, from: number, to: number, seed: number): number {
  let hash = seed;
  for (let index = from; index < to; index += 1) hash = mixUnit(hash, text.charCodeAt(index));
  return hash;
}

function mixUnit(hash: number, unit: number): number {
  return Math.imul(hash ^ unit, FNV_PRIME);
}

function countUp(counts: Map<number, number>, hash: number): void {
  counts.set(hash, (counts.get(hash) ?? 0) + 1);
}

function addFeatures(vector: Float32Array, counts: ReadonlyMap<number, number>, weight: number): void {
  for (const [hash, count] of counts) {
    const spread = finalise(hash);
    const slot = spread & (HASH_NGRAM.dims - 1);
    const sign = spread >>> 31 === 0 ? 1 : -1;
    vector[slot] = (vector[slot] ?? 0) + sign * weight * (1 + Math.log(count));
  }
}

/** FNV's low bits are poor; the last step of MurmurHash3 spreads every bit over all. */
function finalise(hash: number): number {
  let mixed = hash;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
