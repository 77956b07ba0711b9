import { HASH_NGRAM, hashNgramVector } from "@shiftwork/pipeline";
import type { EmbeddingProvider } from "./embedding-provider.ts";

/** The built-in vectors of words and spelling, for callers who want them as they want any other; recall computes its own. */
export const hashNgram: EmbeddingProvider = {
  ...HASH_NGRAM,
  maxInputTokens: Infinity,
  async embed(texts, signal) {
    signal.throwIfAborted();
    return texts.map(hashNgramVector);
  },
};
