import { classInString, LETTER, MARK, NUMBER } from "./bpe/character-class.ts";

/**
 * Whether a text may be cut at `at` without changing what it costs: by every exact vocabulary, the tokens of the two
 * sides are the tokens of the whole. So it is between a letter or mark and a space before a letter, and behind a line
 * break that stands between a letter or digit and a letter. (Elsewhere the sides may cost up to 2 less or more.)
 */
export function isExactCut(text: string, at: number): boolean {
  if (text[at] === " ") return classInString(text, at + 1) <= LETTER && classBefore(text, at) <= MARK;
  if (text[at - 1] !== "\n" || classInString(text, at) > LETTER) return false;
  const before = classBefore(text, at - 1);
  return before <= LETTER || before === NUMBER;
}

function classBefore(text: string, at: number): number {
  const isPair = /[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(0, at - 2), at));
  return classInString(text, at - (isPair ? 2 : 1));
}
