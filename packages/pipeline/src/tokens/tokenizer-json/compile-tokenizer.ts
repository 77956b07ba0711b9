import { createBpeCounter } from "../bpe/bpe-counter.ts";
import type { Vocabulary } from "../bpe/vocabulary.ts";
import { PRE_TOKENISERS, type PreTokeniserName } from "./pre-tokenisers.ts";
import { arrayAt, objectAt } from "./read-json.ts";
import { readModel } from "./read-model.ts";
import { composesText } from "./read-normalizer.ts";
import { readPreTokenizer } from "./read-pre-tokenizer.ts";

/** A `tokenizer.json` as it is counted by: plain data and typed arrays, so that a thread can make it for another. */
export interface CompiledTokenizer {
  readonly vocabulary: Vocabulary;
  readonly preTokeniser: PreTokeniserName;
  /** Texts are composed (NFC) before they are cut. */
  readonly composes: boolean;
}

/**
 * A counter from a parsed `tokenizer.json` (Hugging Face), exact for byte-level BPE with a known pre-tokeniser: that of
 * Llama 3, Qwen 2 to 3, gpt-oss, Mistral's Tekken, DeepSeek V3. Added tokens such as `<|im_end|>` count as the plain text
 * they are in a user's text; what a chat puts around messages is the profile's framing, so `post_processor` is not read.
 * Takes about half a second and 10 MB; throws `TokenizerError`, which names the field, for what cannot be counted by exactly.
 */
export function compileTokenizer(file: unknown): (text: string) => number {
  return createTokenizerCounter(readTokenizer(file));
}

/** All the work of `compileTokenizer`, and what it throws; what is left for `createTokenizerCounter` takes no time. */
export function readTokenizer(file: unknown): CompiledTokenizer {
  const tokenizer = objectAt(file, "");
  return {
    composes: composesText(tokenizer["normalizer"]),
    preTokeniser: readPreTokenizer(tokenizer["pre_tokenizer"]),
    vocabulary: readModel(tokenizer["model"], addedTokens(tokenizer["added_tokens"])),
  };
}

/** The counter of a compiled tokenizer. It writes into the tokenizer what it finds out, so both stay in one thread. */
export function createTokenizerCounter({
  vocabulary,
  preTokeniser,
  composes,
}: CompiledTokenizer): (text: string) => number {
  const count = createBpeCounter(vocabulary, PRE_TOKENISERS[preTokeniser].pieceEnd);
  return composes ? (text) => count(text.normalize("NFC")) : count;
}

function addedTokens(value: unknown): ReadonlySet<string> {
  if (value === undefined || value === null) return new Set();
  const contents = arrayAt(value, "/added_tokens").map(
    (token, index) => objectAt(token, `/added_tokens/${index}`)["content"],
  );
  return new Set(contents.filter((content) => typeof content === "string"));
}
