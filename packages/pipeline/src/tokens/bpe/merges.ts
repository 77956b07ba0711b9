import { NONE } from "./byte-table.ts";

/** A pair that joins: the token it makes, and the length of its left part in bytes, by which the pair is known. */
export interface Merge {
  readonly token: number;
  readonly leftBytes: number;
}

/** The pairs that join, by the token they make: those of token n stand from `starts[n]` to `starts[n + 1]`. */
export interface Merges {
  readonly starts: Int32Array;
  readonly leftBytes: Uint16Array;
  readonly ranks: Int32Array;
}

/** The merges of a vocabulary of `tokens` tokens, in the order of their ranks. A pair listed twice has its last rank. */
export function createMerges(list: readonly Merge[], tokens: number): Merges {
  const starts = new Int32Array(tokens + 1);
  for (const { token } of list) starts[token + 1] = (starts[token + 1] ?? 0) + 1;
  for (let token = 0; token < tokens; token += 1) starts[token + 1] = (starts[token + 1] ?? 0) + (starts[token] ?? 0);
  const [leftBytes, ranks, free] = [new Uint16Array(list.length), new Int32Array(list.length), starts.slice()];
  for (const [rank, merge] of list.entries()) {
    const [start, end] = [starts[merge.token] ?? 0, free[merge.token] ?? 0];
    const listed = leftBytes.subarray(start, end).indexOf(merge.leftBytes);
    const place = listed === -1 ? end : start + listed;
    if (listed === -1) free[merge.token] = end + 1;
    leftBytes[place] = merge.leftBytes;
    ranks[place] = rank;
  }
  return { starts, leftBytes, ranks };
}

/** The rank of making `token` with a left part of `leftBytes` bytes, or `NONE`. */
export function rankOfMerge({ starts, leftBytes, ranks }: Merges, token: number, left: number): number {
  const end = starts[token + 1] ?? 0;
  for (let place = starts[token] ?? 0; place < end; place += 1)
    if (leftBytes[place] === left) return ranks[place] ?? NONE;
  return NONE;
}
