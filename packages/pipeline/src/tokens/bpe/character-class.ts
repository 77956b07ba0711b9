import { CLASS_RUNS } from "./unicode-classes.ts";

// The order is part of the table, and tells words (up to MARK) and symbols (from SYMBOL on) by one comparison.
/** Upper and title case (Lu, Lt). */
export const UPPER = 0;
/** Lower case (Ll). */
export const LOWER = 1;
/** Letters without case (Lm, Lo). */
export const LETTER = 2;
/** Marks (M). */
export const MARK = 3;
/** Numbers (N). */
export const NUMBER = 4;
/** White space, as Unicode defines it, without CR and LF. */
export const SPACE = 5;
/** CR and LF. */
export const NEWLINE = 6;
/** Punctuation and symbols (P, S). */
export const SYMBOL = 7;
/** Control and format characters, private use, what is not assigned. */
export const OTHER = 8;

const CODE_POINTS = 0x110000;
const REPLACEMENT = 0xfffd;
const CLASSES = expand(CLASS_RUNS);

/** The class of the character whose UTF-8 bytes begin at `at`. The bytes must be well-formed. */
export function classAt(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  return CLASSES[lead < 0x80 ? lead : codePointAt(bytes, at, lead)] ?? OTHER;
}

/** The class of the character that begins at `at`; of a lone surrogate, that of the U+FFFD it is sent as. */
export function classInString(text: string, at: number): number {
  const codePoint = text.codePointAt(at) ?? REPLACEMENT;
  const isLone = codePoint >= 0xd800 && codePoint <= 0xdfff;
  return CLASSES[isLone ? REPLACEMENT : codePoint] ?? OTHER;
}

/** The code point whose UTF-8 bytes begin at `at` with the byte `lead`, 0x80 or above. */
export function codePointAt(bytes: Uint8Array, at: number, lead: number): number {
  const second = (bytes[at + 1] ?? 0) & 0x3f;
  if (lead < 0xe0) return ((lead & 0x1f) << 6) | second;
  const third = (bytes[at + 2] ?? 0) & 0x3f;
  if (lead < 0xf0) return ((lead & 0x0f) << 12) | (second << 6) | third;
  return ((lead & 0x07) << 18) | (second << 12) | (third << 6) | ((bytes[at + 3] ?? 0) & 0x3f);
}

/** Where the character behind the one at `at` begins. */
export function afterCharacter(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return at + 1;
  if (lead < 0xe0) return at + 2;
  return lead < 0xf0 ? at + 3 : at + 4;
}

function expand(runs: string): Uint8Array {
  const classes = new Uint8Array(CODE_POINTS);
  let codePoint = 0;
  for (const [, letter = "", length = ""] of runs.matchAll(/([A-I])([0-9a-z]+)/g)) {
    const end = codePoint + Number.parseInt(length, 36);
    classes.fill(letter.charCodeAt(0) - "A".charCodeAt(0), codePoint, end);
    codePoint = end;
  }
  return classes;
}
