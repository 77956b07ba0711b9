import { isExactCut } from "../tokens/exact-cut.ts";

/** How far back a cut may move to stand between words. */
const WORD_SEARCH = 48;
const HEAD_SHARE = 0.7;
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/**
 * Head and tail of a text, about `keep` UTF-16 units together, around a mark that says how much is missing. Cuts stand
 * between words where there are spaces, best where head and tail cost what they cost in the whole, and never inside a
 * grapheme. A text no longer than `keep` comes back as it is.
 */
export function shortenText(text: string, keep: number): string {
  if (text.length <= keep) return text;
  const headEnd = cutBefore(text, Math.floor(keep * HEAD_SHARE));
  const tailStart = cutAfter(text, text.length - (Math.floor(keep) - headEnd));
  const missing = text.slice(headEnd, tailStart);
  return `${text.slice(0, headEnd).trimEnd()}${mark(missing)}${text.slice(tailStart).trimStart()}`.trim();
}

/** The beginning of a text, at most `keep` UTF-16 units, with an ellipsis where something is missing. */
export function clipText(text: string, keep: number): string {
  return text.length <= keep ? text : `${text.slice(0, cutBefore(text, keep)).trimEnd()}…`;
}

function mark(missing: string): string {
  return `\n[… ${missing.length} characters left out …]\n`;
}

function cutBefore(text: string, place: number): number {
  const border = graphemeBorder(text, place, "start");
  for (let at = border; at > Math.max(0, border - WORD_SEARCH); at -= 1) if (isExactCut(text, at)) return at;
  const head = text.slice(Math.max(0, border - WORD_SEARCH), border);
  if (isSpace(text[border])) return border;
  const space = head.search(/\s\S*$/u);
  return space <= 0 ? border : border - head.length + space;
}

function cutAfter(text: string, place: number): number {
  const border = graphemeBorder(text, place, "end");
  for (let at = border; at < Math.min(text.length, border + WORD_SEARCH); at += 1) if (isExactCut(text, at)) return at;
  const tail = text.slice(border, border + WORD_SEARCH);
  if (isSpace(text[border - 1])) return border;
  const space = tail.search(/\s/u);
  return space === -1 ? border : border + space;
}

function isSpace(character: string | undefined): boolean {
  return character !== undefined && character.trim() === "";
}

function graphemeBorder(text: string, place: number, side: "start" | "end"): number {
  if (place <= 0) return 0;
  if (place >= text.length) return text.length;
  const around = graphemes.segment(text).containing(place);
  if (around === undefined || around.index === place) return place;
  return side === "start" ? around.index : around.index + around.segment.length;
}
