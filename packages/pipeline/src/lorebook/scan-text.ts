import type { Block } from "../block.ts";
import type { MacroValues } from "../macros/values.ts";
import { fold, unfoldedOffset, type Folding } from "./folding.ts";
import { gramFilter } from "./gram-filter.ts";

/** Messages a scan may read at the most, newest first (the reference clamps its depth to the same). */
export const MAX_SCAN_DEPTH = 1000;
/** UTF-16 units a scan may read at the most; older text is not looked at. */
export const MAX_SCAN_CHARACTERS = 262_144;

/** U+0001 stands before every message, so a pattern can stay inside one speaker's text. */
const MARK = "\u0001";
const SEPARATOR = `\n${MARK}`;

/** Where a key was found: the message and the offset in its text; `null` when it starts in the speaker's name. */
interface Place {
  readonly messageId: string | null;
  readonly offset: number | null;
}

/** The newest messages down to one depth, in any folding. */
export interface ScanView {
  /** Newest message first; empty at depth 0. */
  text(folding: Folding): string;
  /** False only if the needle is certainly not in the text. */
  mayHold(needle: string, folding: Folding): boolean;
}

/** The recent history as the keys see it. */
export interface ScanText {
  readonly messageCount: number;
  /** What an entry of that depth sees. */
  view(depth: number): ScanView;
  /** What stands at an offset of a view's text, whatever its depth. */
  place(offset: number, folding: Folding): Place;
}

/** In a text shorter than this, looking is as fast as asking the filter. */
const FILTER_FROM_CHARACTERS = 1024;

/**
 * The scan text of the messages given oldest first: tool results and blank messages are passed over, the speaker's name
 * goes in front if `includeNames`. Foldings are made on first use and kept.
 */
export function scanText(
  scanned: readonly Block[],
  options: { readonly includeNames: boolean; readonly values: MacroValues },
): ScanText {
  const parts = scanParts(scanned, options);
  const laidOut = remember((folding: Folding) => layOut(parts, folding));
  const filters = remember((folding: Folding) => gramFilter(laidOut(folding).text));
  const view = remember((depth: number): ScanView => {
    const text = remember((folding: Folding) => newest(laidOut(folding), depth));
    // The filter knows the whole history, of which every view is a part.
    const mayHold = (needle: string, folding: Folding) =>
      text(folding).length < FILTER_FROM_CHARACTERS || filters(folding)(needle);
    return { text, mayHold };
  });
  return {
    messageCount: parts.length,
    view,
    place: (offset, folding) => placeOf(parts, laidOut(folding), offset, folding),
  };
}

function newest({ text, starts }: Layout, depth: number): string {
  if (depth <= 0 || starts.length === 0) return "";
  const next = starts[depth];
  return next === undefined ? text : text.slice(0, next - SEPARATOR.length);
}

interface Part {
  readonly text: string;
  readonly messageId: string | null;
  /** Units of `text` before the message's own; `trimmed` of the message's own are not in `text`. */
  readonly prefix: number;
  readonly trimmed: number;
}

function scanParts(
  scanned: readonly Block[],
  options: { readonly includeNames: boolean; readonly values: MacroValues },
): readonly Part[] {
  const parts: Part[] = [];
  let room = MAX_SCAN_CHARACTERS;
  for (let index = scanned.length - 1; index >= 0 && parts.length < MAX_SCAN_DEPTH && room > 0; index -= 1) {
    const block = scanned[index];
    if (block === undefined || block.role === "tool") continue;
    const content = block.content.trim();
    if (content === "") continue;
    const speaker = options.includeNames ? speakerOf(block, options.values) : null;
    const prefix = speaker === null ? "" : `${speaker}: `;
    const text = (prefix + content).slice(0, room);
    room -= text.length;
    const trimmed = block.content.length - block.content.trimStart().length;
    parts.push({ text, messageId: block.refId, prefix: prefix.length, trimmed });
  }
  return parts;
}

function speakerOf(block: Block, values: MacroValues): string | null {
  if (block.name !== null) return block.name;
  if (block.role === "user") return values.user;
  return block.role === "assistant" ? values.char : null;
}

interface Layout {
  readonly text: string;
  readonly starts: readonly number[];
}

function layOut(parts: readonly Part[], folding: Folding): Layout {
  const folded = parts.map((part) => fold(part.text, folding));
  const starts: number[] = [];
  let start = MARK.length;
  for (const text of folded) {
    starts.push(start);
    start += text.length + SEPARATOR.length;
  }
  return { text: MARK + folded.join(SEPARATOR), starts };
}

function placeOf(parts: readonly Part[], { text, starts }: Layout, offset: number, folding: Folding): Place {
  let at = offset;
  while (text[at] === MARK || text.startsWith(SEPARATOR, at)) at += 1;
  const index = lastAtOrBefore(starts, at);
  const part = parts[index];
  if (part === undefined) return { messageId: null, offset: null };
  const inPart = unfoldedOffset(part.text, folding, at - (starts[index] ?? 0));
  const inMessage = inPart - part.prefix + part.trimmed;
  return { messageId: part.messageId, offset: inPart < part.prefix ? null : inMessage };
}

function lastAtOrBefore(starts: readonly number[], at: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

function remember<Argument, Result>(make: (argument: Argument) => Result): (argument: Argument) => Result {
  const made = new Map<Argument, Result>();
  return (argument) => {
    const known = made.get(argument);
    if (known !== undefined) return known;
    const result = make(argument);
    made.set(argument, result);
    return result;
  };
}
