import {
  afterCharacter,
  classAt,
  codePointAt,
  MARK,
  NEWLINE,
  NUMBER,
  OTHER,
  SPACE,
  SYMBOL,
} from "./character-class.ts";
import { newlinesEnd, numberEnd, type PieceEnd } from "./pieces.ts";

/** Where numbers and Chinese or Japanese characters are cut off, before anything else is looked at. */
const BORDER = OTHER + 1;

/**
 * Pieces of DeepSeek V3 and R1, which cut three times: first `\p{N}{1,3}`, then `[一-龥぀-ゟ゠-ヿ]+`, and what is left by
 * `[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_{|}~][A-Za-z]+` (the grave accent among them), `[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+`,
 * ` ?[\p{P}\p{S}]+[\r\n]*`, `\s*[\r\n]+`, `\s+(?!\S)`, `\s+`. What none matches is a piece up to where one does.
 */
export const deepseekPieceEnd: PieceEnd = (bytes, at, end) => {
  if (classAt(bytes, at) === NUMBER) return numberEnd(bytes, at, end, 3);
  if (isCjk(bytes, at)) return cjkEnd(bytes, at, end);
  const first = classAt(bytes, at);
  if (first <= MARK) return wordEnd(bytes, at, end);
  const next = afterCharacter(bytes, at);
  const second = kindAt(bytes, next, end);
  if (first === SYMBOL) {
    const letters = next === at + 1 ? asciiLettersEnd(bytes, next, end) : next;
    return letters > next ? letters : newlinesEnd(bytes, symbolsEnd(bytes, next, end), end);
  }
  if (second <= MARK && first !== NEWLINE) return wordEnd(bytes, next, end);
  if (second === SYMBOL && bytes[at] === 0x20) return newlinesEnd(bytes, symbolsEnd(bytes, next, end), end);
  return first === OTHER ? unmatchedEnd(bytes, next, end) : spacesEnd(bytes, at, end);
};

/** The class of the character at `at`, or `BORDER` where what is looked at by the last expression ends. */
function kindAt(bytes: Uint8Array, at: number, end: number): number {
  if (at >= end) return BORDER;
  const kind = classAt(bytes, at);
  return kind === NUMBER || isCjk(bytes, at) ? BORDER : kind;
}

function isCjk(bytes: Uint8Array, at: number): boolean {
  const lead = bytes[at] ?? 0;
  if (lead < 0xe3 || lead > 0xe9) return false;
  const codePoint = codePointAt(bytes, at, lead);
  return (codePoint >= 0x4e00 && codePoint <= 0x9fa5) || (codePoint >= 0x3040 && codePoint <= 0x30ff);
}

function cjkEnd(bytes: Uint8Array, at: number, end: number): number {
  let here = at;
  while (here < end && isCjk(bytes, here)) here = afterCharacter(bytes, here);
  return here;
}

function wordEnd(bytes: Uint8Array, at: number, end: number): number {
  let here = at;
  while (kindAt(bytes, here, end) <= MARK) here = afterCharacter(bytes, here);
  return here;
}

function symbolsEnd(bytes: Uint8Array, at: number, end: number): number {
  let here = at;
  while (kindAt(bytes, here, end) === SYMBOL) here = afterCharacter(bytes, here);
  return here;
}

function asciiLettersEnd(bytes: Uint8Array, at: number, end: number): number {
  let here = at;
  for (; here < end; here += 1) {
    const byte = (bytes[here] ?? 0) | 0x20;
    if (byte < 0x61 || byte > 0x7a) return here;
  }
  return here;
}

/** Up to the last line break, else all spaces if a border follows, else all but the one that the next word takes along. */
function spacesEnd(bytes: Uint8Array, at: number, end: number): number {
  let here = at;
  let lastBegin = at;
  let lineEnd = at;
  let kind = kindAt(bytes, here, end);
  for (; kind === SPACE || kind === NEWLINE; kind = kindAt(bytes, here, end)) {
    lastBegin = here;
    here = afterCharacter(bytes, here);
    if (kind === NEWLINE) lineEnd = here;
  }
  if (lineEnd > at) return lineEnd;
  return kind === BORDER || lastBegin === at ? here : lastBegin;
}

/** Control characters and the like, up to the one that begins the next word. */
function unmatchedEnd(bytes: Uint8Array, at: number, end: number): number {
  let here = at;
  while (kindAt(bytes, here, end) === OTHER && kindAt(bytes, afterCharacter(bytes, here), end) > MARK)
    here = afterCharacter(bytes, here);
  return here;
}
