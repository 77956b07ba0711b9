import { createByteText } from "./byte-text.ts";
import type { TokenList } from "./vocabulary.ts";

const SPACE = 0x20;
const PADDING = 0x3d;
const HEADER = "! 0 ";
const SEXTETS = sextets("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");

/**
 * The tokens of `bpe_ranks`, as `@dqbd/tiktoken` packs a vocabulary: `! 0`, then every token in base64, in the order of
 * its rank, with a space between them. Decoded by hand, because this package has no host to do it.
 */
export function readTiktokenRanks(ranks: string): TokenList {
  if (!ranks.startsWith(HEADER)) throw new Error("The vocabulary does not begin with the token of rank 0.");
  const text = createByteText(Math.ceil((ranks.length * 3) / 4));
  const starts: number[] = [0];
  let written = 0;
  let bits = 0;
  let held = 0;
  for (let at = HEADER.length; at < ranks.length; at += 1) {
    const code = ranks.charCodeAt(at);
    if (code === SPACE) {
      starts.push(written);
      held = 0;
    } else if (code !== PADDING) {
      bits = (bits << 6) | (SEXTETS[code] ?? 0);
      held += 6;
      if (held >= 8) {
        held -= 8;
        text.bytes[written] = bits >> held;
        written += 1;
      }
    }
  }
  starts.push(written);
  return { text, starts: Int32Array.from(starts) };
}

function sextets(alphabet: string): Uint8Array {
  const table = new Uint8Array(128);
  for (let value = 0; value < alphabet.length; value += 1) table[alphabet.charCodeAt(value)] = value;
  return table;
}
