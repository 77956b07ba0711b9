import { findText } from "./find-text.ts";

/** Which neighbours end a word. `ascii` imitates the reference, whose `\W` takes every non-ASCII letter for a boundary. */
export type WordRule = "none" | "ascii" | "unicode";

const ASCII_WORD = /\w/;
const UNICODE_WORD = /[\p{L}\p{M}\p{N}_]/u;
// Written without spaces between words, or (Hangul) with particles joined on: there, any place may end a word.
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const ASCII_RUN = /\w*/y;
const UNICODE_RUN = new RegExp(`(?:(?!${UNSPACED.source})${UNICODE_WORD.source})*`, "uy");

/** Offset of the first occurrence of `key` that stands as a word, or -1. Linear in the text. */
export function findWord(text: string, key: string, rule: WordRule): number {
  let at = findText(text, key);
  if (rule === "none" || key === "") return at;
  const anyStart = rule === "unicode" && UNSPACED.test(characterAt(key, 0));
  while (at >= 0 && !isWord(text, at, at + key.length, rule)) {
    at = findText(text, key, anyStart ? at + 1 : afterRun(text, at, rule));
  }
  return at;
}

// A word starts behind a character that is not part of one: nothing inside the run at `at` can be a start.
function afterRun(text: string, at: number, rule: "ascii" | "unicode"): number {
  const run = rule === "ascii" ? ASCII_RUN : UNICODE_RUN;
  run.lastIndex = at;
  return at + (run.exec(text)?.[0].length ?? 0) + 1;
}

function isWord(text: string, start: number, end: number, rule: "ascii" | "unicode"): boolean {
  if (rule === "ascii") return !ASCII_WORD.test(text.charAt(start - 1)) && !ASCII_WORD.test(text.charAt(end));
  return (
    endsWord(characterAt(text, start), characterBefore(text, start)) &&
    endsWord(characterBefore(text, end), characterAt(text, end))
  );
}

function endsWord(edge: string, neighbour: string): boolean {
  return !UNICODE_WORD.test(neighbour) || UNSPACED.test(neighbour) || UNSPACED.test(edge);
}

function characterAt(text: string, index: number): string {
  const codePoint = text.codePointAt(index);
  return codePoint === undefined ? "" : String.fromCodePoint(codePoint);
}

function characterBefore(text: string, index: number): string {
  const before = text.charCodeAt(index - 1);
  const isLowSurrogate = before >= 0xdc00 && before <= 0xdfff;
  return text.slice(Math.max(0, index - (isLowSurrogate ? 2 : 1)), index);
}
