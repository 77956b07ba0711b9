import { sha256Hex } from "../hash.ts";

const ROLL_HEX_DIGITS = 12;
const ROLL_RANGE = 16 ** ROLL_HEX_DIGITS;

/**
 * An entry's roll, 0 ≤ roll < 100: the first 48 bits of SHA-256 over seed, book and entry. Independent of every other
 * entry, so adding one never changes what the others roll.
 */
export function rollPercent(seed: string, bookId: string, entryId: string): number {
  const digest = sha256Hex(JSON.stringify(["lore", seed, bookId, entryId]));
  return (Number.parseInt(digest.slice(0, ROLL_HEX_DIGITS), 16) / ROLL_RANGE) * 100;
}
