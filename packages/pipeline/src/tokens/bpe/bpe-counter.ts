import { addEntry, clearTable, createByteTable, hashOf, NONE, valueOf, wordsOf, type ByteTable } from "./byte-table.ts";
import { createByteText, mostBytes, writeText, type ByteText } from "./byte-text.ts";
import { mergeLong } from "./merge-long.ts";
import { mergeShort, SHORT_PIECE } from "./merge-short.ts";
import { createPairMemo, type PairMemo } from "./pair-memo.ts";
import type { PieceEnd } from "./pieces.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Bytes of the buffer that is kept between texts; a longer text gets one of its own. */
const KEPT_BUFFER = 2 ** 20;
// What merged pieces came to: emptied when it is full, 1 MB altogether.
const CACHE_SLOTS = 2 ** 16;
const CACHE_PIECES = CACHE_SLOTS / 2;
const CACHE_WORDS = 2 ** 17;
/** Bytes of a piece worth remembering. */
const CACHED_PIECE = 128;

/** Tokens of a text. Exact, never throws, and takes O(n log n) time for any text. */
export type CountBpe = (text: string) => number;

/** Counts by a byte-level BPE, without building the tokens: each piece is one token, or is merged. */
export function createBpeCounter(vocabulary: Vocabulary, pieceEnd: PieceEnd): CountBpe {
  const merged = createByteTable(CACHE_SLOTS, CACHE_WORDS);
  const pairs = createPairMemo(vocabulary);
  const buffer = createByteText(KEPT_BUFFER);

  function countPiece(text: ByteText, start: number, end: number): number {
    const hash = hashOf(text, start, end);
    if (end - start <= vocabulary.longest && valueOf(vocabulary.tokens, text, start, end, hash) !== NONE) return 1;
    return end - start > CACHED_PIECE
      ? mergeLong(pairs, text, start, end)
      : mergeOnce(vocabulary, pairs, merged, text, start, end, hash);
  }

  return (text) => {
    const bytes = mostBytes(text) <= KEPT_BUFFER ? buffer : createByteText(mostBytes(text));
    const end = writeText(text, bytes);
    let tokens = 0;
    for (let at = 0; at < end;) {
      const next = pieceEnd(bytes.bytes, at, end);
      tokens += countPiece(bytes, at, next);
      at = next;
    }
    return tokens;
  };
}

/** Merges a piece, or knows from the last time what it came to. */
function mergeOnce(
  vocabulary: Vocabulary,
  pairs: PairMemo,
  merged: ByteTable,
  text: ByteText,
  start: number,
  end: number,
  hash: number,
): number {
  const known = valueOf(merged, text, start, end, hash);
  if (known !== NONE) return known;
  const isShort = end - start <= SHORT_PIECE;
  const tokens = isShort ? mergeShort(vocabulary, text, start, end) : mergeLong(pairs, text, start, end);
  const isFull = merged.count === CACHE_PIECES || merged.used + wordsOf(end - start) > merged.entries.length;
  if (isFull) clearTable(merged);
  addEntry(merged, text, start, end, hash, tokens);
  return tokens;
}
