import { addEntry, createByteTable, hashOf, NONE, valueOf, wordsOf, type ByteTable } from "./byte-table.ts";
import type { ByteText } from "./byte-text.ts";
import { rankOfMerge, type Merges } from "./merges.ts";

/** Byte strings one after the other in one text: the n-th reaches from `starts[n]` to `starts[n + 1]`. */
export interface TokenList {
  readonly text: ByteText;
  readonly starts: Int32Array;
}

/** What a byte-level BPE merges by; the number of a token is its place in the list. */
export interface Vocabulary {
  readonly tokens: ByteTable;
  /** Tokens of all pairs of bytes, at `first << 8 | second`: every merge begins with them. */
  readonly pairs: Int32Array;
  /** Bytes of the longest token. */
  readonly longest: number;
  /** Which two tokens may join; `null` = any two that make up a token, those of the lowest number first. */
  readonly merges: Merges | null;
  /** What a piece that is a token comes to, found out when it is asked for; `null` = one token, always. */
  readonly ownCosts: Uint16Array | null;
}

/** How a vocabulary merges; the default is that of OpenAI's. */
export interface MergeRules {
  readonly merges: Merges | null;
  /** A piece that is a token is never taken apart. Otherwise it is one only if merging leads there. */
  readonly takesWholePieces: boolean;
}

/** A vocabulary of tokens; what is empty is passed over. */
export function createVocabulary(
  { text, starts }: TokenList,
  { merges, takesWholePieces }: MergeRules = { merges: null, takesWholePieces: true },
): Vocabulary {
  const count = starts.length - 1;
  const tokens = createByteTable(slotsFor(count), wordsFor(starts));
  const pairs = new Int32Array(0x10000).fill(NONE);
  let longest = 0;
  for (let token = 0; token < count; token += 1) {
    const start = starts[token] ?? 0;
    const end = starts[token + 1] ?? 0;
    if (start === end) continue;
    addEntry(tokens, text, start, end, hashOf(text, start, end), token);
    if (end - start === 2) pairs[text.view.getUint16(start)] = token;
    longest = Math.max(longest, end - start);
  }
  return { tokens, pairs, longest, merges, ownCosts: takesWholePieces ? null : new Uint16Array(count) };
}

/** The rank of joining what stands from `start` to `middle` with what stands from there to `end`, or `NONE`. */
export function rankOf(vocabulary: Vocabulary, text: ByteText, start: number, middle: number, end: number): number {
  const token = tokenOf(vocabulary, text, start, end);
  return token === NONE || vocabulary.merges === null ? token : rankOfMerge(vocabulary.merges, token, middle - start);
}

function tokenOf(vocabulary: Vocabulary, text: ByteText, start: number, end: number): number {
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
