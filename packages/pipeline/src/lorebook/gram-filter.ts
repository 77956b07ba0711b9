const GRAM = 4;
const BITS = 1 << 18;

/**
 * A quick "certainly not in this text": remembers the hash of every run of four units. Without it each unmatched key of a
 * big book would be searched for in the whole history only to explain why its entry stayed out. Answers `true` for keys
 * shorter than four units, and rarely for keys that are not there; never `false` for one that is.
 */
export function gramFilter(text: string): (key: string) => boolean {
  const seen = new Uint8Array(BITS / 8);
  for (let index = 0; index + GRAM <= text.length; index += 1) {
    const bit = gramHash(text, index);
    seen[bit >> 3] = (seen[bit >> 3] ?? 0) | (1 << (bit & 7));
  }
  return (key) => {
    for (let index = 0; index + GRAM <= key.length; index += 1) {
      const bit = gramHash(key, index);
      if (((seen[bit >> 3] ?? 0) & (1 << (bit & 7))) === 0) return false;
    }
    return true;
  };
}

// Four units mixed by two odd multipliers; only the spread over the table matters.
function gramHash(text: string, index: number): number {
  const first = text.charCodeAt(index) * 31 + text.charCodeAt(index + 1);
  const second = text.charCodeAt(index + 2) * 31 + text.charCodeAt(index + 3);
  return (Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b)) >>> 14;
}
