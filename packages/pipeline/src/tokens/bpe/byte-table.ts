import type { ByteText } from "./byte-text.ts";

/** What an unknown byte string is answered with; values are never negative. */
export const NONE = -1;

// Of each slot: the hash, and where the entry is in `entries` (0 = free).
const SLOT = 2;
// Of each entry: its length in bytes, its value, then its bytes, four to a word, the last word filled up with zeros.
const HEAD = 2;
const FIRST_ENTRY = 1;

/** Numbers kept under byte strings of up to a few hundred bytes: open addressing, every hit compared byte by byte. */
export interface ByteTable {
  readonly slots: Int32Array;
  readonly mask: number;
  readonly entries: Int32Array;
  /** How many slots away from the one of its hash an entry may stand. */
  readonly farthest: number;
  /** How many any does. */
  reach: number;
  used: number;
  count: number;
}

/**
 * A table with `slots` places (a power of two, at most about half of it used) and room for `words` words of entries. With
 * `farthest`, what finds no place so near is not kept: nobody can make look-ups slow by texts whose hashes are alike.
 */
export function createByteTable(slots: number, words: number, farthest = slots): ByteTable {
  return {
    slots: new Int32Array(slots * SLOT),
    mask: slots - 1,
    entries: new Int32Array(words + FIRST_ENTRY),
    farthest,
    reach: 0,
    used: FIRST_ENTRY,
    count: 0,
  };
}

/** Words that an entry of `length` bytes takes. */
export function wordsOf(length: number): number {
  return HEAD + ((length + 3) >> 2);
}

/** The hash of the bytes from `start` to `end`. */
export function hashOf({ view }: ByteText, start: number, end: number): number {
  let hash = end - start;
  let at = start;
  for (; at + 4 <= end; at += 4) hash = mix(hash, view.getInt32(at, true));
  if (at < end) hash = mix(hash, lastWord(view, at, end));
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}

/** The value kept for the bytes from `start` to `end`, whose hash is `hash`, or `NONE`. */
export function valueOf(table: ByteTable, text: ByteText, start: number, end: number, hash: number): number {
  const { slots, mask, entries, reach } = table;
  for (let away = 0; away <= reach; away += 1) {
    const slot = (hash + away) & mask;
    const entry = slots[slot * SLOT + 1] ?? 0;
    if (entry === 0) return NONE;
    if (slots[slot * SLOT] === hash && isEntry(entries, entry, text.view, start, end))
      return entries[entry + 1] ?? NONE;
  }
  return NONE;
}

/** Keeps `value` for bytes that the table does not hold yet; there must be room. */
export function addEntry(
  table: ByteTable,
  text: ByteText,
  start: number,
  end: number,
  hash: number,
  value: number,
): void {
  const { slots, mask, entries, used } = table;
  let away = 0;
  while (away <= table.farthest && slots[((hash + away) & mask) * SLOT + 1] !== 0) away += 1;
  if (away > table.farthest) return;
  const slot = (hash + away) & mask;
  table.reach = Math.max(table.reach, away);
  slots[slot * SLOT] = hash;
  slots[slot * SLOT + 1] = used;
  entries[used] = end - start;
  entries[used + 1] = value;
  let word = used + HEAD;
  for (let at = start; at < end; at += 4) {
    entries[word] = at + 4 <= end ? text.view.getInt32(at, true) : lastWord(text.view, at, end);
    word += 1;
  }
  table.used = word;
  table.count += 1;
}

/** Empties the table. */
export function clearTable(table: ByteTable): void {
  table.slots.fill(0);
  table.reach = 0;
  table.used = FIRST_ENTRY;
  table.count = 0;
}

function isEntry(entries: Int32Array, entry: number, view: DataView, start: number, end: number): boolean {
  if (entries[entry] !== end - start) return false;
  let word = entry + HEAD;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    if (entries[word] !== view.getInt32(at, true)) return false;
    word += 1;
  }
  return at === end || entries[word] === lastWord(view, at, end);
}

/** The one to three bytes from `at` to `end`; what the buffer holds behind them is masked out. */
function lastWord(view: DataView, at: number, end: number): number {
  return view.getInt32(at, true) & (0xffffff >>> ((3 - (end - at)) * 8));
}

// The steps of MurmurHash3 (public domain, Austin Appleby) without its rotation of the word.
function mix(hash: number, word: number): number {
  const mixed = Math.imul(hash ^ Math.imul(word, 0xcc9e2d51), 0x1b873593);
  return mixed ^ (mixed >>> 16);
}
