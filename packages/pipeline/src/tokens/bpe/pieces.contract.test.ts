import { describe, expect, it } from "vitest";
import { EDGE_TEXTS, fuzzTexts, REAL_TEXTS } from "../../testing/token-texts.ts";
import { createByteText, mostBytes, writeText } from "./byte-text.ts";
import { classInString, NUMBER, SYMBOL } from "./character-class.ts";
import { cl100kPieceEnd } from "./cl100k-pieces.ts";
import { o200kPieceEnd } from "./o200k-pieces.ts";
import { deepseekPieceEnd } from "./deepseek-pieces.ts";
import type { PieceEnd } from "./pieces.ts";

const S = String.raw`\p{White_Space}`;
const CONTRACTION = String.raw`'(?:[sSſtTmMdD]|[rRvV][eE]|[lL][lL])`;
const SPACES = String.raw`|${S}*[\r\n]+|${S}+(?=${S}|$)|${S}+`;
const cl100k = (digits: number): string =>
  String.raw`${CONTRACTION}|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,${digits}}| ?[^${S}\p{L}\p{N}]+[\r\n]*${SPACES}`;
const UPPER = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`;
const LOWER = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`;
const o200k = (digits: number, suffix: string): string =>
  String.raw`[^\r\n\p{L}\p{N}]?${UPPER}*${LOWER}+${suffix}|[^\r\n\p{L}\p{N}]?${UPPER}+${LOWER}*${suffix}` +
  String.raw`|\p{N}{1,${digits}}| ?[^${S}\p{L}\p{N}]+[\r\n/]*${SPACES}`;

// Three expressions one after the other, each within what the one before left: here as one, that looks ahead to the cuts.
const CUT = String.raw`[\p{N}一-龥぀-ゟ゠-ヿ]`;
const WORD = String.raw`(?!${CUT})[\p{L}\p{M}]`;
const MATCH = String.raw`[!-/:-@[-\x60{-~][A-Za-z]+|(?:(?!${CUT})[^\r\n\p{L}\p{P}\p{S}])?(?:${WORD})+| ?(?:(?!${CUT})[\p{P}\p{S}])+[\r\n]*`;
const DEEPSEEK_SPACES = String.raw`|${S}*[\r\n]+|${S}+(?=${S}|${CUT}|$)|${S}+`;
const deepseek =
  String.raw`\p{N}{1,3}|[一-龥぀-ゟ゠-ヿ]+|${MATCH}${DEEPSEEK_SPACES}` +
  String.raw`|(?:(?!${MATCH}${DEEPSEEK_SPACES}|${CUT})[^])+`;

/** Each pre-tokeniser and the regular expression it stands for. */
const PRE_TOKENISERS: readonly (readonly [name: string, pieceEnd: PieceEnd, pattern: string])[] = [
  ["o200k", o200kPieceEnd({ digits: 3, contractions: true }), o200k(3, `(?:${CONTRACTION})?`)],
  ["Tekken", o200kPieceEnd({ digits: 1, contractions: false }), o200k(1, "")],
  ["DeepSeek's V3", deepseekPieceEnd, deepseek],
  ["cl100k with three digits to a piece", cl100kPieceEnd(3), cl100k(3)],
  ["cl100k with one digit to a piece", cl100kPieceEnd(1), cl100k(1)],
];

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function piecesOf(text: string, pieceEnd: PieceEnd): readonly string[] {
  const buffer = createByteText(mostBytes(text));
  const end = writeText(text, buffer);
  const pieces: string[] = [];
  for (let at = 0; at < end;) {
    const next = pieceEnd(buffer.bytes, at, end);
    pieces.push(decoder.decode(buffer.bytes.subarray(at, next)));
    at = next;
  }
  return pieces;
}

/** Whether the host's expressions know the text's characters as the frozen table does: its Unicode may be newer. */
function isJudge(text: string): boolean {
  return (text.match(/./gsu) ?? []).every((character) => {
    const kind = classInString(character, 0);
    const isNamed = /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(character);
    return isNamed === (kind <= NUMBER || kind === SYMBOL);
  });
}

describe.each(PRE_TOKENISERS)("the pieces of %s", (_name, pieceEnd, pattern) => {
  const expression = new RegExp(pattern, "gu");

  it("are the matches of its regular expression", () => {
    for (const text of [...Object.values(REAL_TEXTS), ...EDGE_TEXTS, ...fuzzTexts(3, 5_000)]) {
      const wellFormed = text.replaceAll(/\p{Surrogate}/gu, "\ufffd");
      if (!isJudge(text)) continue;
      const [pieces, expected] = [piecesOf(text, pieceEnd), wellFormed.match(expression) ?? []];
      if (pieces.join("|") !== expected.join("|")) expect({ text, pieces }).toEqual({ text, pieces: expected });
    }
  });
});
