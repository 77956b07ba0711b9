import { NONE } from "./byte-table.ts";
import type { ByteText } from "./byte-text.ts";
import { rankOf, type Vocabulary } from "./vocabulary.ts";

/** Bytes up to which looking at every pair again after each merge is the fastest. */
export const SHORT_PIECE = 400;

const NEVER = 0x7fffffff;
// One merge is over before the next begins, so all share these: where each part begins, and the rank of joining it with the next.
const starts = new Int32Array(SHORT_PIECE + 1);
const ranks = new Int32Array(SHORT_PIECE + 1);

/** Tokens of a piece of at most `SHORT_PIECE` bytes: of all neighbours, those of the lowest rank are joined, the first of them first. */
export function mergeShort(vocabulary: Vocabulary, text: ByteText, start: number, end: number): number {
  let parts = end - start;
  for (let part = 0; part <= parts; part += 1) starts[part] = start + part;
  for (let part = 0; part < parts; part += 1) ranks[part] = part + 1 < parts ? rankFrom(vocabulary, text, part) : NEVER;
  for (;;) {
    const best = lowest(parts);
    if (ranks[best] === NEVER) return parts;
    parts -= 1;
    starts.copyWithin(best + 1, best + 2, parts + 2);
    ranks.copyWithin(best + 1, best + 2, parts + 1);
    ranks[best] = best + 1 < parts ? rankFrom(vocabulary, text, best) : NEVER;
    if (best > 0) ranks[best - 1] = rankFrom(vocabulary, text, best - 1);
  }
}

function lowest(parts: number): number {
  let best = 0;
  let least = ranks[0] ?? NEVER;
  for (let part = 1; part < parts; part += 1) {
    const rank = ranks[part] ?? NEVER;
    if (rank < least) {
      least = rank;
      best = part;
    }
  }
  return best;
}

/** The rank of a part with the next; that must be one. */
function rankFrom(vocabulary: Vocabulary, text: ByteText, part: number): number {
  const rank = rankOf(vocabulary, text, starts[part] ?? 0, starts[part + 1] ?? 0, starts[part + 2] ?? 0);
  return rank === NONE ? NEVER : rank;
}
