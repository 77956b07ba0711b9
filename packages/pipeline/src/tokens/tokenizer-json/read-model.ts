import { createByteText } from "../bpe/byte-text.ts";
import { createMerges, type Merge } from "../bpe/merges.ts";
import { createVocabulary, type TokenList, type Vocabulary } from "../bpe/vocabulary.ts";
import { byteOf, NO_BYTE } from "./byte-alphabet.ts";
import { arrayAt, expectOneOf, objectAt, type JsonObject } from "./read-json.ts";
import { TokenizerError } from "./tokenizer-error.ts";

const MOST_TOKENS = 2 ** 19;
const MOST_MERGES = 2 ** 20;
const LONGEST_TOKEN = 1_024;
const UNSET = [undefined, null, ""];

/** The vocabulary of a byte-level BPE, from `model`. Added tokens are left out: in a text they are text. */
export function readModel(value: unknown, addedTokens: ReadonlySet<string>): Vocabulary {
  const model = objectAt(value, "/model");
  expectOneOf(model, "type", ["BPE"], "/model");
  expectOneOf(model, "dropout", [undefined, null, 0], "/model");
  expectOneOf(model, "byte_fallback", [undefined, false], "/model");
  expectOneOf(model, "continuing_subword_prefix", UNSET, "/model");
  expectOneOf(model, "end_of_word_suffix", UNSET, "/model");
  expectOneOf(model, "ignore_merges", [undefined, false, true], "/model");
  const tokens = tokensOf(objectAt(model["vocab"], "/model/vocab"), addedTokens);
  const merges = createMerges(readMerges(arrayAt(model["merges"], "/model/merges"), tokens), tokens.size);
  return createVocabulary(bytesOf(tokens), { merges, takesWholePieces: model["ignore_merges"] === true });
}

/** Each token's place in the list of tokens. */
function tokensOf(vocab: JsonObject, addedTokens: ReadonlySet<string>): ReadonlyMap<string, number> {
  const names = Object.keys(vocab).filter((token) => !addedTokens.has(token) && token !== "");
  if (names.length > MOST_TOKENS)
    throw new TokenizerError("/model/vocab", `has ${names.length} tokens; at most ${MOST_TOKENS} are read`);
  return new Map(names.map((token, place) => [token, place]));
}

function bytesOf(tokens: ReadonlyMap<string, number>): TokenList {
  let size = 0;
  for (const token of tokens.keys()) size += token.length;
  const text = createByteText(size);
  const starts = new Int32Array(tokens.size + 1);
  const single = new Set<number>();
  let written = 0;
  for (const [token, place] of tokens) {
    if (token.length > LONGEST_TOKEN)
      throw new TokenizerError("/model/vocab", `has a token of more than ${LONGEST_TOKEN} bytes`);
    for (let at = 0; at < token.length; at += 1) {
      const byte = byteOf(token.charCodeAt(at));
      if (byte === NO_BYTE) throw new TokenizerError("/model/vocab", `is not byte-level: ${JSON.stringify(token)}`);
      text.bytes[written] = byte;
      written += 1;
    }
    if (token.length === 1) single.add(text.bytes[written - 1] ?? 0);
    starts[place + 1] = written;
  }
  expectEveryByte(single);
  return { text, starts };
}

/** A byte without a token would be dropped, or be another number of tokens. Those that UTF-8 never uses may be missing. */
function expectEveryByte(bytes: ReadonlySet<number>): void {
  for (let byte = 0; byte <= 0xf4; byte += 1) {
    if (!bytes.has(byte) && byte !== 0xc0 && byte !== 0xc1)
      throw new TokenizerError("/model/vocab", `has no token for the byte 0x${byte.toString(16).padStart(2, "0")}`);
  }
}

function readMerges(list: readonly unknown[], tokens: ReadonlyMap<string, number>): readonly Merge[] {
  if (list.length > MOST_MERGES)
    throw new TokenizerError("/model/merges", `has ${list.length} pairs; at most ${MOST_MERGES} are read`);
  return list.map((pair, rank) => {
    const parts: readonly unknown[] = typeof pair === "string" ? pair.split(" ") : Array.isArray(pair) ? pair : [];
    const [left, right] = parts;
    if (parts.length !== 2 || typeof left !== "string" || typeof right !== "string")
      throw new TokenizerError(`/model/merges/${rank}`, "must be two tokens");
    const token = tokens.get(left + right);
    if (token === undefined || !tokens.has(left) || !tokens.has(right))
      throw new TokenizerError(`/model/merges/${rank}`, "names or makes a token that the vocabulary does not have");
    return { token, leftBytes: left.length };
  });
}
