import { addEntry, createByteTable, hashOf, NONE, valueOf, wordsOf, type ByteTable } from "./byte-table.ts";
import type { ByteText } from "./byte-text.ts";

/** Byte strings one after the other in one text: the n-th reaches from `starts[n]` to `starts[n + 1]`. */
export interface TokenList {
  readonly text: ByteText;
  readonly starts: Int32Array;
}

/** The tokens of a byte-level BPE, each with its rank: what is lower is merged first. */
export interface Vocabulary {
  readonly tokens: ByteTable;
  /** Ranks of all pairs of bytes, at `first << 8 | second`: every merge begins with them. */
  readonly pairs: Int32Array;
  /** Bytes of the longest token. */
  readonly longest: number;
}

/** A vocabulary of tokens in the order of their ranks; what is empty is passed over. */
export function createVocabulary({ text, starts }: TokenList): Vocabulary {
  const count = starts.length - 1;
  const tokens = createByteTable(slotsFor(count), wordsFor(starts));
  const pairs = new Int32Array(0x10000).fill(NONE);
  let longest = 0;
  for (let rank = 0; rank < count; rank += 1) {
    const start = starts[rank] ?? 0;
    const end = starts[rank + 1] ?? 0;
    if (start === end) continue;
    addEntry(tokens, text, start, end, hashOf(text, start, end), rank);
    if (end - start === 2) pairs[text.view.getUint16(start)] = rank;
    longest = Math.max(longest, end - start);
  }
  return { tokens, pairs, longest };
}

/** The rank of the token that stands from `start` to `end`, or `NONE`. */
export function rankOf(vocabulary: Vocabulary, text: ByteText, start: number, end: number): number {
  if (end - start > vocabulary.longest) return NONE;
  if (end - start === 2) return vocabulary.pairs[text.view.getUint16(start)] ?? NONE;
  return valueOf(vocabulary.tokens, text, start, end, hashOf(text, start, end));
}

/** At most half full, so that what is not there is found out in a step or two. */
function slotsFor(count: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1, count) * 2));
}

function wordsFor(starts: Int32Array): number {
  let words = 0;
  for (let at = 1; at < starts.length; at += 1) words += wordsOf((starts[at] ?? 0) - (starts[at - 1] ?? 0));
  return words;
}
