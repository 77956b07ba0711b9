import o200kBase from "@dqbd/tiktoken/encoders/o200k_base.json" with { type: "json" };
import { PRE_TOKENISERS } from "../tokens/tokenizer-json/pre-tokenisers.ts";

/** Tokens of the files made here: enough for merges of every kind, few enough to be quick. */
const TOKENS = 4_000;

/** How a tokenizer file is to be made. */
export interface TokenizerFileOptions {
  readonly preTokeniser: keyof typeof PRE_TOKENISERS;
  /** `all` = every two tokens that make up a third, as Llama 3 has it; `one` = only how it came about, as of a trained BPE. */
  readonly merges: "all" | "one";
  readonly ignoreMerges?: boolean;
  readonly normalizer?: unknown;
}

/** A `tokenizer.json` of the first tokens of o200k_base, for any pre-tokeniser. */
export function tokenizerFile({ preTokeniser, merges, ignoreMerges = false, normalizer = null }: TokenizerFileOptions) {
  const tokens = o200kBase.bpe_ranks
    .split(" ")
    .slice(2, 2 + TOKENS)
    .map(fromBase64);
  const ranks = new Map(tokens.map((token, rank) => [token, rank]));
  const pairs = tokens.flatMap((token, rank) =>
    merges === "all" ? splitsOf(token, ranks) : [lastPairOf(token, rank, ranks)].filter((pair) => pair.length === 2),
  );
  const splits = PRE_TOKENISERS[preTokeniser].expressions.map((expression) => ({
    type: "Split",
    pattern: { Regex: expression },
    behavior: "Isolated",
    invert: false,
  }));
  const bytes = { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: false };
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: [] as unknown[],
    normalizer,
    pre_tokenizer: { type: "Sequence", pretokenizers: [...splits, bytes] as unknown[] },
    post_processor: null,
    decoder: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: ignoreMerges,
      vocab: Object.fromEntries(tokens.map((token, rank) => [visible(token), rank])),
      merges: pairs.map((pair) => pair.map(visible)) as unknown[],
    },
  };
}

/** Bytes as characters of the same number. */
function fromBase64(text: string): string {
  return Buffer.from(text, "base64").toString("latin1");
}

function splitsOf(token: string, ranks: ReadonlyMap<string, number>): readonly (readonly string[])[] {
  return Array.from({ length: token.length - 1 }, (_, at) => [token.slice(0, at + 1), token.slice(at + 1)]).filter(
    (pair) => pair.every((part) => ranks.has(part)),
  );
}

/** The last two parts of a token before it became one: merged by what was there before it. */
function lastPairOf(token: string, rank: number, ranks: ReadonlyMap<string, number>): readonly string[] {
  let parts: readonly string[] = token.match(/./gs) ?? [];
  while (parts.length > 2) {
    const costs = parts.slice(1).map((part, at) => ranks.get(`${parts[at] ?? ""}${part}`) ?? Infinity);
    const least = Math.min(...costs);
    if (least >= rank) return [];
    const at = costs.indexOf(least);
    parts = [...parts.slice(0, at), `${parts[at] ?? ""}${parts[at + 1] ?? ""}`, ...parts.slice(at + 2)];
  }
  return parts;
}

// `bytes_to_unicode` of GPT-2.
function visible(token: string): string {
  return [...Buffer.from(token, "latin1")].map((byte) => VISIBLE[byte] ?? "").join("");
}

const VISIBLE = visibleCharacters();

function visibleCharacters(): readonly string[] {
  let hidden = 0;
  return Array.from({ length: 256 }, (_, byte) => {
    const isVisible = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
    if (!isVisible) hidden += 1;
    return String.fromCodePoint(isVisible ? byte : 255 + hidden);
  });
}
