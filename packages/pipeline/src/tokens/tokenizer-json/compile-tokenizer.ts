import { createBpeCounter } from "../bpe/bpe-counter.ts";
import { arrayAt, objectAt } from "./read-json.ts";
import { readModel } from "./read-model.ts";
import { readNormalizer } from "./read-normalizer.ts";
import { readPreTokenizer } from "./read-pre-tokenizer.ts";

/**
 * A counter from a parsed `tokenizer.json` (Hugging Face), exact for byte-level BPE with a known pre-tokeniser: that of
 * Llama 3, Qwen 2 to 3, gpt-oss, Mistral's Tekken, DeepSeek V3. Added tokens such as `<|im_end|>` count as the plain text
 * they are in a user's text; what a chat puts around messages is the profile's framing, so `post_processor` is not read.
 * Takes about half a second and 10 MB; throws `TokenizerError`, which names the field, for what cannot be counted by exactly.
 */
export function compileTokenizer(file: unknown): (text: string) => number {
  const tokenizer = objectAt(file, "");
  const normalise = readNormalizer(tokenizer["normalizer"]);
  const pieceEnd = readPreTokenizer(tokenizer["pre_tokenizer"]);
  const count = createBpeCounter(readModel(tokenizer["model"], addedTokens(tokenizer["added_tokens"])), pieceEnd);
  return (text) => count(normalise(text));
}

function addedTokens(value: unknown): ReadonlySet<string> {
  if (value === undefined || value === null) return new Set();
  const contents = arrayAt(value, "/added_tokens").map(
    (token, index) => objectAt(token, `/added_tokens/${index}`)["content"],
  );
  return new Set(contents.filter((content) => typeof content === "string"));
}
