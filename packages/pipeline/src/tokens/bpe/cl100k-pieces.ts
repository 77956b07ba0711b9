import { afterCharacter, classAt, LETTER, NEWLINE, NUMBER } from "./character-class.ts";
import {
  asciiLowerEnd,
  contractionEnd,
  isSymbolic,
  newlinesEnd,
  numberEnd,
  spacesEnd,
  symbolsEnd,
  type PieceEnd,
} from "./pieces.ts";

/**
 * Pieces of cl100k_base, Llama 3 (three digits to a piece) and Qwen 2 and 3 (one): `(?i:'s|'t|'re|'ve|'m|'ll|'d)`,
 * `[^\r\n\p{L}\p{N}]?\p{L}+`, `\p{N}{1,digits}`, ` ?[^\s\p{L}\p{N}]+[\r\n]*`, `\s*[\r\n]+`, `\s+(?!\S)`, `\s+`.
 */
export function cl100kPieceEnd(digits: number): PieceEnd {
  return (bytes, at, end) => {
    const contraction = contractionEnd(bytes, at, end);
    if (contraction > at) return contraction;
    const first = classAt(bytes, at);
    if (first <= LETTER) return lettersEnd(bytes, at, end);
    if (first === NUMBER) return numberEnd(bytes, at, end, digits);
    if (first === NEWLINE) return spacesEnd(bytes, at, end);
    const next = afterCharacter(bytes, at);
    const second = next < end ? classAt(bytes, next) : NEWLINE;
    if (second <= LETTER) return lettersEnd(bytes, next, end);
    if (isSymbolic(first) || (bytes[at] === 0x20 && isSymbolic(second)))
      return newlinesEnd(bytes, symbolsEnd(bytes, next, end), end);
    return spacesEnd(bytes, at, end);
  };
}

function lettersEnd(bytes: Uint8Array, at: number, end: number): number {
  let here = asciiLowerEnd(bytes, at, end);
  while (here < end && classAt(bytes, here) <= LETTER) here = asciiLowerEnd(bytes, afterCharacter(bytes, here), end);
  return here;
}
