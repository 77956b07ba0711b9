import { afterCharacter, classAt, LOWER, MARK, NEWLINE, NUMBER, SYMBOL, UPPER } from "./character-class.ts";
import { asciiLowerEnd, contractionEnd, numberEnd, spacesEnd, symbolsEnd, type PieceEnd } from "./pieces.ts";

/** What differs between the vocabularies that follow o200k. */
export interface O200kPieces {
  /** Digits to a piece. */
  readonly digits: number;
  /** Whether a word takes its contraction along. */
  readonly contractions: boolean;
}

/**
 * Pieces of o200k_base and gpt-oss (three digits to a piece), and of Mistral's Tekken (one, and without contractions):
 * `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?`,
 * the same with `+` and `*` exchanged, `\p{N}{1,digits}`, ` ?[^\s\p{L}\p{N}]+[\r\n/]*`, `\s*[\r\n]+`, `\s+(?!\S)`, `\s+`.
 */
export function o200kPieceEnd({ digits, contractions }: O200kPieces): PieceEnd {
  const suffixEnd = contractions ? contractionEnd : (_bytes: Uint8Array, at: number) => at;
  return (bytes, at, end) => {
    const first = classAt(bytes, at);
    if (first <= MARK) return suffixEnd(bytes, wordEnd(bytes, at, end), end);
    if (first === NUMBER) return numberEnd(bytes, at, end, digits);
    if (first === NEWLINE) return spacesEnd(bytes, at, end);
    const next = afterCharacter(bytes, at);
    const second = next < end ? classAt(bytes, next) : NEWLINE;
    if (second <= MARK) return suffixEnd(bytes, wordEnd(bytes, next, end), end);
    if (first >= SYMBOL || (second >= SYMBOL && bytes[at] === 0x20)) return symbolPieceEnd(bytes, next, end);
    return spacesEnd(bytes, at, end);
  };
}

/**
 * Upper case, then lower case; letters without case and marks are of both. Without lower case behind it, what is of both
 * serves as that, and upper case behind the last of it begins a piece of its own.
 */
function wordEnd(bytes: Uint8Array, at: number, end: number): number {
  let here = at;
  let bothEnd = at;
  while (here < end) {
    const kind = classAt(bytes, here);
    if (kind === LOWER) return lowerEnd(bytes, here, end);
    if (kind > MARK) break;
    here = afterCharacter(bytes, here);
    if (kind !== UPPER) bothEnd = here;
  }
  return bothEnd > at ? bothEnd : here;
}

function lowerEnd(bytes: Uint8Array, at: number, end: number): number {
  let here = asciiLowerEnd(bytes, at, end);
  while (here < end) {
    const kind = classAt(bytes, here);
    if (kind > MARK || kind === UPPER) return here;
    here = asciiLowerEnd(bytes, afterCharacter(bytes, here), end);
  }
  return here;
}

function symbolPieceEnd(bytes: Uint8Array, at: number, end: number): number {
  let here = symbolsEnd(bytes, at, end);
  while (here < end && (bytes[here] === 0x0a || bytes[here] === 0x0d || bytes[here] === 0x2f)) here += 1;
  return here;
}
