import { cl100kPieceEnd } from "../bpe/cl100k-pieces.ts";
import { deepseekPieceEnd } from "../bpe/deepseek-pieces.ts";
import { o200kPieceEnd } from "../bpe/o200k-pieces.ts";
import type { PieceEnd } from "../bpe/pieces.ts";

/** A pre-tokeniser written by hand, and the expressions by which a file asks for it: one, or several one after the other. */
export interface PreTokeniser {
  readonly expressions: readonly string[];
  readonly pieceEnd: PieceEnd;
}

const CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const SPACES = String.raw`\s*[\r\n]+|\s+(?!\S)|\s+`;
const DEEPSEEK = String.raw`[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_` + "`" + String.raw`{|}~][A-Za-z]+`;

/** Every pre-tokeniser that `tokenizer.json` files can ask for. */
export const PRE_TOKENISERS = {
  /** Llama 3, and whoever took it over. */
  "cl100k, three digits": { expressions: [cl100k(String.raw`\p{N}{1,3}`)], pieceEnd: cl100kPieceEnd(3) },
  /** Qwen 2, 2.5 and 3. */
  "cl100k, one digit": { expressions: [cl100k(String.raw`\p{N}`)], pieceEnd: cl100kPieceEnd(1) },
  /** gpt-oss. */
  o200k: {
    expressions: [o200k(String.raw`\p{N}{1,3}`, `${CONTRACTION}?`)],
    pieceEnd: o200kPieceEnd({ digits: 3, contractions: true }),
  },
  /** Mistral's Tekken. */
  tekken: {
    expressions: [o200k(String.raw`\p{N}`, "")],
    pieceEnd: o200kPieceEnd({ digits: 1, contractions: false }),
  },
  /** DeepSeek V3 and R1. */
  deepseek: {
    expressions: [
      String.raw`\p{N}{1,3}`,
      "[一-龥぀-ゟ゠-ヿ]+",
      String.raw`${DEEPSEEK}|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|${SPACES}`,
    ],
    pieceEnd: deepseekPieceEnd,
  },
} as const satisfies Record<string, PreTokeniser>;

export type PreTokeniserName = keyof typeof PRE_TOKENISERS;

function cl100k(number: string): string {
  return String.raw`${CONTRACTION}|[^\r\n\p{L}\p{N}]?\p{L}+|${number}| ?[^\s\p{L}\p{N}]+[\r\n]*|${SPACES}`;
}

function o200k(number: string, suffix: string): string {
  const [upper, lower] = [String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`, String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`];
  const prefix = String.raw`[^\r\n\p{L}\p{N}]?`;
  const words = `${prefix}${upper}*${lower}+${suffix}|${prefix}${upper}+${lower}*${suffix}`;
  return String.raw`${words}|${number}| ?[^\s\p{L}\p{N}]+[\r\n/]*|${SPACES}`;
}
