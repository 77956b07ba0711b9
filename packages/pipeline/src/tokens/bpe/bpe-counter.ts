import { addEntry, clearTable, createByteTable, hashOf, NONE, valueOf, wordsOf } from "./byte-table.ts";
import { createByteText, mostBytes, writeText, type ByteText } from "./byte-text.ts";
import { mergeLong } from "./merge-long.ts";
import { mergeShort, SHORT_PIECE } from "./merge-short.ts";
import { createPairMemo } from "./pair-memo.ts";
import type { PieceEnd } from "./pieces.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Bytes of the buffer that is kept between texts; a longer text gets one of its own. */
const KEPT_BUFFER = 2 ** 20;
// What merged pieces came to: emptied when it is full, 1 MB altogether.
const CACHE_SLOTS = 2 ** 16;
const CACHE_PIECES = CACHE_SLOTS / 2;
const CACHE_WORDS = 2 ** 17;
const CACHE_REACH = 16;
/** Bytes of a piece worth remembering. */
const CACHED_PIECE = 128;

/** Tokens of a text. Exact, never throws, and takes O(n log n) time for any text. */
export type CountBpe = (text: string) => number;

/** Counts by a byte-level BPE, without building the tokens: each piece is one token, or is merged. */
export function createBpeCounter(vocabulary: Vocabulary, pieceEnd: PieceEnd): CountBpe {
  const { tokens, longest, ownCosts } = vocabulary;
  const merged = createByteTable(CACHE_SLOTS, CACHE_WORDS, CACHE_REACH);
  const pairs = createPairMemo(vocabulary);
  const buffer = createByteText(KEPT_BUFFER);

  function countPiece(text: ByteText, start: number, end: number): number {
    const hash = hashOf(text, start, end);
    const token = end - start > longest ? NONE : valueOf(tokens, text, start, end, hash);
    if (token !== NONE) return ownCosts === null ? 1 : countToken(ownCosts, token, text, start, end);
    return end - start > CACHED_PIECE ? merge(text, start, end) : mergeOnce(text, start, end, hash);
  }

  /** Of a piece that is a token, where merging decides whether it stays one. */
  function countToken(costs: Uint16Array, token: number, text: ByteText, start: number, end: number): number {
    const known = costs[token] ?? 0;
    if (known > 0) return known;
    const cost = merge(text, start, end);
    costs[token] = cost;
    return cost;
  }

  /** Merges a piece, or knows from the last time what it came to. */
  function mergeOnce(text: ByteText, start: number, end: number, hash: number): number {
    const known = valueOf(merged, text, start, end, hash);
    if (known !== NONE) return known;
    const cost = merge(text, start, end);
    const isFull = merged.count === CACHE_PIECES || merged.used + wordsOf(end - start) > merged.entries.length;
    if (isFull) clearTable(merged);
    addEntry(merged, text, start, end, hash, cost);
    return cost;
  }

  function merge(text: ByteText, start: number, end: number): number {
    const isShort = end - start <= SHORT_PIECE;
    return isShort ? mergeShort(vocabulary, text, start, end) : mergeLong(pairs, text, start, end);
  }

  return (text) => {
    const bytes = mostBytes(text) <= KEPT_BUFFER ? buffer : createByteText(mostBytes(text));
    const end = writeText(text, bytes);
    let count = 0;
    for (let at = 0; at < end;) {
      const next = pieceEnd(bytes.bytes, at, end);
      count += countPiece(bytes, at, next);
      at = next;
    }
    return count;
  };
}
