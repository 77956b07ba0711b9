import { countEncoded } from "../encoder.ts";
import { OPENAI_FRAMING } from "../framing.ts";
import type { Profile } from "../profile.ts";

// Highest ratios to o200k measured, so that an estimate errs high: Claude by script, anything else over all.
const CYRILLIC = { script: /\p{Script=Cyrillic}/u, factor: 1.9 };
const CJK = { script: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u, factor: 1.31 };
const BASE_FACTOR = 1.25;
const SCRIPT_RUNS =
  /(\p{Script=Cyrillic}[\p{Script=Cyrillic}\p{M}\p{P}\p{Z}]*|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}][\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{P}\p{Z}]*)/u;

function factorOf(segment: string): number {
  const first = segment.slice(0, 2);
  if (CYRILLIC.script.test(first)) return CYRILLIC.factor;
  return CJK.script.test(first) ? CJK.factor : BASE_FACTOR;
}

function countByScript(text: string): number {
  let tokens = 0;
  for (const segment of text.split(SCRIPT_RUNS)) tokens += countEncoded("o200k_base", segment) * factorOf(segment);
  return Math.ceil(tokens);
}

/** Claude 3 and later: o200k × 1.25, Cyrillic × 1.9, CJK × 1.31, rounded up. */
export const estimateClaude: Profile = {
  id: "estimate:claude",
  version: 2,
  approximate: true,
  framing: OPENAI_FRAMING,
  matches: (model) => model.startsWith("claude"),
  countText: countByScript,
};

/** Any model without a known tokenizer: o200k × 1.25, rounded up. */
export const estimateGeneric: Profile = {
  id: "estimate:generic",
  version: 2,
  approximate: true,
  framing: OPENAI_FRAMING,
  matches: () => true,
  countText: (text) => Math.ceil(countEncoded("o200k_base", text) * BASE_FACTOR),
};
