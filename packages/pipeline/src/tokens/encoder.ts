import { get_encoding, type Tiktoken } from "@dqbd/tiktoken";

/** Vocabularies counted exactly. Source: OpenAI's tiktoken, as packaged by `@dqbd/tiktoken`. */
export type Encoding = "o200k_base" | "cl100k_base";

/** Tokens of one text. `approximate` = a hostile run was counted in slices, so borders may have moved the sum a little. */
export interface TextCount {
  readonly tokens: number;
  readonly approximate: boolean;
}

/** Code units after which one run of a class is sliced: merging a single piece costs quadratic time. */
export const RUN_LIMIT = 512;

const encoders = new Map<Encoding, Tiktoken>();

// An encoder holds 21 MB of WASM memory that is never given back, hence one per process.
function encoderOf(encoding: Encoding): Tiktoken {
  const known = encoders.get(encoding);
  if (known !== undefined) return known;
  const created = get_encoding(encoding);
  encoders.set(encoding, created);
  return created;
}

/**
 * Counts `text` as plain text: special-token strings such as `<|endoftext|>` are ordinary characters.
 * Never throws and takes time linear in the length. A value that is not a string counts as its JSON text, because
 * the encoder would run into unrelated memory.
 */
export function countEncoded(encoding: Encoding, text: unknown): TextCount {
  const plain = plainText(text);
  if (plain === "") return { tokens: 0, approximate: false };
  const encoder = encoderOf(encoding);
  if (plain.length <= RUN_LIMIT || !mayHoldLongRun(plain))
    return { tokens: lengthOf(encoder, plain), approximate: false };
  const pieces = sliceLongRuns(plain);
  let tokens = 0;
  for (const piece of pieces) tokens += lengthOf(encoder, piece);
  return { tokens, approximate: pieces.length > 1 };
}

function plainText(text: unknown): string {
  if (typeof text === "string") return text;
  return text === undefined || text === null ? "" : (JSON.stringify(text) ?? "");
}

function lengthOf(encoder: Tiktoken, text: string): number {
  return encoder.encode_ordinary(text).length;
}

/** Cheap test over code units: characters beyond ASCII count for every class, so it may say yes too often, never no. */
function mayHoldLongRun(text: string): boolean {
  let letters = 0;
  let others = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const wild = code > 127;
    const letter = (code > 64 && code < 91) || (code > 96 && code < 123);
    const digit = code > 47 && code < 58;
    letters = wild || letter ? letters + 1 : 0;
    others = wild || !(letter || digit) ? others + 1 : 0;
    if (letters > RUN_LIMIT || others > RUN_LIMIT) return true;
  }
  return false;
}

// Both vocabularies cut digits into threes by themselves. Marks are in both classes: one vocabulary joins them to
// letters, the other to symbols. Spaces and symbols share a class because a piece may run from one into the other.
const RUN_CLASSES = [/[\p{L}\p{M}]+/gu, /[^\p{L}\p{N}]+/gu];

/** Cuts runs longer than `RUN_LIMIT` into slices of at most that many code units; everything else stays whole. */
export function sliceLongRuns(text: string): readonly string[] {
  const pieces: string[] = [];
  let from = 0;
  for (const [start, end] of longRuns(text)) {
    if (start > from) pieces.push(text.slice(from, start));
    for (let at = start; at < end;) {
      const to = sliceEnd(text, at, end);
      pieces.push(text.slice(at, to));
      at = to;
    }
    from = end;
  }
  if (from < text.length) pieces.push(text.slice(from));
  return pieces;
}

function longRuns(text: string): readonly (readonly [number, number])[] {
  const found: [number, number][] = [];
  for (const pattern of RUN_CLASSES) {
    for (const match of text.matchAll(pattern)) {
      if (match[0].length > RUN_LIMIT) found.push([match.index, match.index + match[0].length]);
    }
  }
  return mergeOverlaps(found);
}

function mergeOverlaps(runs: [number, number][]): readonly (readonly [number, number])[] {
  const merged: [number, number][] = [];
  for (const run of runs.sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last !== undefined && run[0] < last[1]) last[1] = Math.max(last[1], run[1]);
    else merged.push([run[0], run[1]]);
  }
  return merged;
}

function sliceEnd(text: string, start: number, end: number): number {
  const to = Math.min(start + RUN_LIMIT, end);
  const code = text.charCodeAt(to - 1);
  const splitsPair = to < end && code >= 0xd800 && code <= 0xdbff;
  return splitsPair ? to - 1 : to;
}
