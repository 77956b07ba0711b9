import { FAMILIES, type FamilyName } from "../families.ts";
import { OPENAI_FRAMING } from "../framing.ts";
import type { Profile } from "../profile.ts";
import { countByScript, type ScriptFactors } from "../script-factors.ts";

// Highest ratios to o200k that were measured for any vocabulary, so that an estimate errs high; digits one by one.
const ANY: ScriptFactors = {
  rest: 1.25,
  digits: 3,
  cyrillic: 1.9,
  greek: 2.2,
  han: 1.45,
  hangul: 1.4,
  arabic: 1.9,
  hebrew: 2.8,
  thai: 2.2,
  devanagari: 3.1,
  rare: 5.2,
};

// Measured for the family's own vocabulary, and a tenth more. Claude's are the worst seen in its reported usage.
const LLAMA: ScriptFactors = {
  ...ANY,
  digits: 1.1,
  cyrillic: 1.2,
  greek: 1.2,
  han: 1.15,
  hangul: 1.2,
  arabic: 1.2,
  thai: 1.2,
  devanagari: 1.7,
};
const QWEN: ScriptFactors = {
  ...ANY,
  cyrillic: 1.25,
  greek: 2,
  han: 1,
  hangul: 1.2,
  arabic: 1.25,
  hebrew: 1.3,
  thai: 1.45,
  devanagari: 2.9,
  rare: 3.7,
};
const DEEPSEEK: ScriptFactors = {
  rest: 1.4,
  digits: 1.1,
  cyrillic: 1.2,
  greek: 1.4,
  han: 1,
  hangul: 1.25,
  arabic: 1.2,
  hebrew: 1.4,
  thai: 1.1,
  devanagari: 1.9,
  rare: 2.2,
};
const CLAUDE: ScriptFactors = { ...ANY, digits: 1.25, han: 1.31 };

/** Claude 3 and later: o200k × 1.25, Cyrillic × 1.9, Chinese and Japanese × 1.31, other scripts as for any model. */
export const estimateClaude = estimateOf("claude", CLAUDE);
/** Gemini and Gemma, which publish no vocabulary that is read here. */
export const estimateGemini = estimateOf("gemini", ANY);
/** Llama 3, as long as its `tokenizer.json` is not supplied. */
export const estimateLlama = estimateOf("llama-3", LLAMA);
/** Qwen 2 and 3, as long as their `tokenizer.json` is not supplied. */
export const estimateQwen = estimateOf("qwen", QWEN);
/** DeepSeek V3 and R1, as long as their `tokenizer.json` is not supplied. */
export const estimateDeepseek = estimateOf("deepseek", DEEPSEEK);
/** Mistral, whose newer vocabulary cuts digits one by one. */
export const estimateMistral = estimateOf("mistral", ANY);

/** Any model without a known tokenizer: the highest ratio seen of each script. */
export const estimateGeneric: Profile = {
  id: "estimate:generic",
  version: 2,
  approximate: true,
  families: [],
  framing: OPENAI_FRAMING,
  matches: () => true,
  countText: (text) => countByScript(text, ANY),
};

function estimateOf(family: FamilyName, factors: ScriptFactors): Profile {
  const { framing, matches } = FAMILIES[family];
  return {
    id: `estimate:${family}`,
    version: 2,
    approximate: true,
    families: [family],
    framing,
    matches,
    countText: (text) => countByScript(text, factors),
  };
}
