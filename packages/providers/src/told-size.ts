import type { ToldSize } from "@shiftwork/pipeline";
import type { ErrorFacts } from "./error-facts.ts";
import { TOLD_LIMIT_TEXTS, TOLD_PROMPT_TEXTS } from "./error-signatures.ts";

/** A window nobody offers: such a number is something else. */
const LARGEST_WINDOW = 100_000_000;

/** The sizes a provider names when it finds a prompt too long. Only numbers leave; the text stays here. */
export function readToldSize(facts: ErrorFacts): ToldSize {
  return {
    limitTokens: plausible(facts.contextTokens) ?? firstNumber(TOLD_LIMIT_TEXTS, facts.text),
    promptTokens: plausible(facts.promptTokens) ?? firstNumber(TOLD_PROMPT_TEXTS, facts.text),
  };
}

function firstNumber(patterns: readonly RegExp[], text: string): number | null {
  for (const pattern of patterns) {
    const found = plausible(Number(pattern.exec(text)?.[1]?.replaceAll(",", "")));
    if (found !== null) return found;
  }
  return null;
}

function plausible(tokens: number | null): number | null {
  return tokens !== null && Number.isInteger(tokens) && tokens > 0 && tokens <= LARGEST_WINDOW ? tokens : null;
}
