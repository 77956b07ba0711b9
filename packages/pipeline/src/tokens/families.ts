import { CHATML_FRAMING, LLAMA_FRAMING, OPENAI_FRAMING, type Framing } from "./framing.ts";

/** Models that share a tokenizer and a chat format. */
export interface TokenizerFamily {
  /** `model` in lower case, without a vendor path. */
  matches(model: string): boolean;
  readonly framing: Framing;
}

/** Families by the names their models go under, in the order they are asked: a distilled model has its student's tokenizer. */
export const FAMILIES = {
  "llama-3": {
    matches: (model) => /^(meta-)?llama-?3|-distill-llama/.test(model),
    framing: LLAMA_FRAMING,
  },
  qwen: { matches: (model) => /^(qwen|qwq|qvq)|-distill-qwen/.test(model), framing: CHATML_FRAMING },
  deepseek: { matches: (model) => model.startsWith("deepseek"), framing: OPENAI_FRAMING },
  mistral: {
    matches: (model) => /^(open-)?(mistral|mixtral|ministral|codestral|devstral|magistral|pixtral)/.test(model),
    framing: OPENAI_FRAMING,
  },
  claude: { matches: (model) => model.startsWith("claude"), framing: OPENAI_FRAMING },
  gemini: { matches: (model) => /^(gemini|gemma)/.test(model), framing: OPENAI_FRAMING },
} as const satisfies Record<string, TokenizerFamily>;

export type FamilyName = keyof typeof FAMILIES;

/** The family of a model by its bare name; `null` = none that is known. */
export function familyOf(model: string): FamilyName | null {
  const names = Object.keys(FAMILIES) as FamilyName[];
  return names.find((name) => FAMILIES[name].matches(model)) ?? null;
}
