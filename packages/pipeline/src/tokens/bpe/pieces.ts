import { afterCharacter, classAt, MARK, NEWLINE, NUMBER, SPACE, SYMBOL } from "./character-class.ts";

/**
 * A vocabulary's pre-tokeniser: where the piece ends that begins at `at`, in a text that ends at `end`. Pieces are what
 * merging never reaches over. Each is its vocabulary's regular expression by hand, alternative by alternative.
 */
export type PieceEnd = (bytes: Uint8Array, at: number, end: number) => number;

/** `[a-z]*`: most of what is counted, found without the table. */
export function asciiLowerEnd(bytes: Uint8Array, at: number, end: number): number {
  let here = at;
  for (; here < end; here += 1) {
    const byte = bytes[here] ?? 0;
    if (byte < 0x61 || byte > 0x7a) return here;
  }
  return here;
}

/** `\p{N}{1,most}`. */
export function numberEnd(bytes: Uint8Array, at: number, end: number, most: number): number {
  let here = afterCharacter(bytes, at);
  for (let digits = 1; digits < most && here < end && classAt(bytes, here) === NUMBER; digits += 1)
    here = afterCharacter(bytes, here);
  return here;
}

/** `[^\s\p{L}\p{N}]*`. */
export function symbolsEnd(bytes: Uint8Array, at: number, end: number): number {
  let here = at;
  while (here < end && isSymbolic(classAt(bytes, here))) here = afterCharacter(bytes, here);
  return here;
}

/** `[^\s\p{L}\p{N}]`. */
export function isSymbolic(kind: number): boolean {
  return kind >= SYMBOL || kind === MARK;
}

/** `[\r\n]*`. */
export function newlinesEnd(bytes: Uint8Array, at: number, end: number): number {
  let here = at;
  while (here < end && (bytes[here] === 0x0a || bytes[here] === 0x0d)) here += 1;
  return here;
}

/** `\s*[\r\n]+|\s+(?!\S)|\s+`: up to the last line break, else up to the space that the next word takes along. */
export function spacesEnd(bytes: Uint8Array, at: number, end: number): number {
  let here = at;
  let lastBegin = at;
  let lineEnd = at;
  while (here < end) {
    const kind = classAt(bytes, here);
    if (kind !== SPACE && kind !== NEWLINE) break;
    lastBegin = here;
    here = afterCharacter(bytes, here);
    if (kind === NEWLINE) lineEnd = here;
  }
  if (lineEnd > at) return lineEnd;
  return here === end || lastBegin === at ? here : lastBegin;
}

/** `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`; the long s (U+017F) is an s in another case. */
export function contractionEnd(bytes: Uint8Array, at: number, end: number): number {
  if (at + 1 >= end || bytes[at] !== 0x27) return at;
  const first = bytes[at + 1] ?? 0;
  const second = at + 2 < end ? (bytes[at + 2] ?? 0) : 0;
  switch (first | 0x20) {
    case 0x73: // s
    case 0x74: // t
    case 0x6d: // m
    case 0x64: // d
      return at + 2;
    case 0x72: // re
    case 0x76: // ve
      return (second | 0x20) === 0x65 ? at + 3 : at;
    case 0x6c: // ll
      return (second | 0x20) === 0x6c ? at + 3 : at;
    default:
      return first === 0xc5 && second === 0xbf ? at + 3 : at;
  }
}
