import cl100kBase from "@dqbd/tiktoken/encoders/cl100k_base.json" with { type: "json" };
import o200kBase from "@dqbd/tiktoken/encoders/o200k_base.json" with { type: "json" };
import { createBpeCounter, type CountBpe } from "./bpe/bpe-counter.ts";
import { cl100kPieceEnd } from "./bpe/cl100k-pieces.ts";
import { o200kPieceEnd } from "./bpe/o200k-pieces.ts";
import type { PieceEnd } from "./bpe/pieces.ts";
import { readTiktokenRanks } from "./bpe/tiktoken-ranks.ts";
import { createVocabulary } from "./bpe/vocabulary.ts";

/** Vocabularies counted exactly. Source: OpenAI's tiktoken, as packaged by `@dqbd/tiktoken`. */
export type Encoding = "o200k_base" | "cl100k_base";

const ENCODINGS: { readonly [encoding in Encoding]: { readonly ranks: string; readonly pieceEnd: PieceEnd } } = {
  o200k_base: { ranks: o200kBase.bpe_ranks, pieceEnd: o200kPieceEnd({ digits: 3, contractions: true }) },
  cl100k_base: { ranks: cl100kBase.bpe_ranks, pieceEnd: cl100kPieceEnd(3) },
};

const counters = new Map<Encoding, CountBpe>();

// A compiled vocabulary takes a tenth of a second and several megabytes: once per process, and only when it is asked for.
function counterOf(encoding: Encoding): CountBpe {
  const known = counters.get(encoding);
  if (known !== undefined) return known;
  const { ranks, pieceEnd } = ENCODINGS[encoding];
  const counter = createBpeCounter(createVocabulary(readTiktokenRanks(ranks)), pieceEnd);
  counters.set(encoding, counter);
  return counter;
}

/**
 * Tokens of `text` as plain text, exactly: special-token strings such as `<|endoftext|>` are ordinary characters, a lone
 * surrogate is the U+FFFD it is sent as. Never throws. A value that is not a string counts as its JSON text.
 */
export function countEncoded(encoding: Encoding, text: unknown): number {
  return counterOf(encoding)(plainText(text));
}

function plainText(text: unknown): string {
  if (typeof text === "string") return text;
  return text === undefined || text === null ? "" : (JSON.stringify(text) ?? "");
}
