import { NONE } from "./byte-table.ts";
import type { ByteText } from "./byte-text.ts";
import { createMergeQueue, popPair, pushPair, type MergeQueue } from "./merge-queue.ts";
import { rankOfPair, type PairMemo } from "./pair-memo.ts";

/** A piece taken apart: for each part, by the place where it begins, its token and where its neighbours begin. */
interface Chain {
  readonly text: ByteText;
  readonly start: number;
  readonly length: number;
  readonly tokens: Int32Array;
  readonly next: Int32Array;
  readonly previous: Int32Array;
}

/** Tokens of a piece of any length, in O(n log n): the parts form a chain, their pairs wait in a queue. */
export function mergeLong(memo: PairMemo, text: ByteText, start: number, end: number): number {
  const chain = chainOfBytes(text, start, end);
  const queue = createMergeQueue(end - start);
  for (let part = 0; part < chain.length; part += 1) rate(chain, part, memo, queue);
  let parts = chain.length;
  for (let place = popPair(queue); place !== NONE; place = popPair(queue)) {
    join(chain, place, queue);
    parts -= 1;
    const before = chain.previous[place] ?? NONE;
    if (before !== NONE) rate(chain, before, memo, queue);
    rate(chain, place, memo, queue);
  }
  return parts;
}

function chainOfBytes(text: ByteText, start: number, end: number): Chain {
  const length = end - start;
  const [tokens, next, previous] = [new Int32Array(length), new Int32Array(length), new Int32Array(length + 1)];
  for (let part = 0; part < length; part += 1) {
    // A byte is known by a number that no token has.
    tokens[part] = NONE - (text.bytes[start + part] ?? 0);
    next[part] = part + 1;
    previous[part] = part - 1;
  }
  return { text, start, length, tokens, next, previous };
}

/** Finds the rank of a part with the one behind it, and queues the pair if it has one. */
function rate({ text, start, length, tokens, next }: Chain, part: number, memo: PairMemo, queue: MergeQueue): void {
  const following = next[part] ?? length;
  const rank =
    following < length
      ? rankOfPair(
          memo,
          tokens[part] ?? 0,
          tokens[following] ?? 0,
          text,
          start + part,
          start + following,
          start + (next[following] ?? length),
        )
      : NONE;
  queue.ranks[part] = rank;
  if (rank !== NONE) pushPair(queue, part);
}

/** Makes one token of a part and the one behind it: that of their rank. */
function join({ length, tokens, next, previous }: Chain, place: number, { ranks }: MergeQueue): void {
  const joined = next[place] ?? length;
  const following = next[joined] ?? length;
  tokens[place] = ranks[place] ?? NONE;
  next[place] = following;
  previous[following] = place;
  ranks[joined] = NONE;
}
