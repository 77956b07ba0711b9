import { requireWithin } from "../limits.ts";

/** One line of a file, without its line break. */
export interface TextLine {
  /** Counted from 1. */
  readonly number: number;
  /** A view into the file. */
  readonly bytes: Uint8Array;
  /** False for a last line the file breaks off in, or simply does not end with a line break. */
  readonly terminated: boolean;
}

const LINE_FEED = 0x0a;

/**
 * The lines of a file one after another, without a copy of it.
 *
 * @throws ImportError `limit_exceeded` above `chatLines` or `chatLineBytes`, when that line is reached.
 */
export function* textLines(bytes: Uint8Array): Generator<TextLine> {
  let start = 0;
  for (let number = 1; start < bytes.length; number += 1) {
    const feed = bytes.indexOf(LINE_FEED, start);
    const end = feed === -1 ? bytes.length : feed;
    requireWithin("chatLines", number, { line: number });
    requireWithin("chatLineBytes", end - start, { line: number });
    yield { number, bytes: bytes.subarray(start, end), terminated: feed !== -1 };
    start = end + 1;
  }
}
