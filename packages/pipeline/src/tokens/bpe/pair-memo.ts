import type { ByteText } from "./byte-text.ts";
import { rankOf, type Vocabulary } from "./vocabulary.ts";

const PLACES = 2 ** 13;
const FIELDS = 3;

/** Ranks of pairs that were looked up last, by the two tokens: a long piece asks for the same ones again and again. */
export interface PairMemo {
  readonly vocabulary: Vocabulary;
  readonly fields: Int32Array;
}

/** An empty memo of fixed size, in which a pair takes the place of another. */
export function createPairMemo(vocabulary: Vocabulary): PairMemo {
  return { vocabulary, fields: new Int32Array(PLACES * FIELDS).fill(0x7fffffff) };
}

/**
 * The rank of joining the token `left` with `right`, which stand from `start` over `middle` to `end`; or `NONE`.
 * A token is known by any number of its own.
 */
export function rankOfPair(
  { vocabulary, fields }: PairMemo,
  left: number,
  right: number,
  text: ByteText,
  start: number,
  middle: number,
  end: number,
): number {
  const at = ((Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b)) >>> 19) * FIELDS;
  if (fields[at] === left && fields[at + 1] === right) return fields[at + 2] ?? 0;
  const rank = rankOf(vocabulary, text, start, middle, end);
  fields[at] = left;
  fields[at + 1] = right;
  fields[at + 2] = rank;
  return rank;
}
