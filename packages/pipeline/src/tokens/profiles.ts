import type { TokenizerFacts } from "../prompt.ts";
import { calibrated } from "./calibration.ts";
import type { Profile } from "./profile.ts";
import {
  estimateClaude,
  estimateDeepseek,
  estimateGemini,
  estimateGeneric,
  estimateLlama,
  estimateMistral,
  estimateQwen,
} from "./profiles/estimate.ts";
import { openaiCl100k } from "./profiles/openai-cl100k.ts";
import { openaiO200k } from "./profiles/openai-o200k.ts";

/** Every built-in tokenizer profile. The first that matches a model counts for it; the last matches all. */
export const PROFILES = {
  "openai:o200k_base": openaiO200k,
  "openai:cl100k_base": openaiCl100k,
  "estimate:llama-3": estimateLlama,
  "estimate:qwen": estimateQwen,
  "estimate:deepseek": estimateDeepseek,
  "estimate:mistral": estimateMistral,
  "estimate:claude": estimateClaude,
  "estimate:gemini": estimateGemini,
  "estimate:generic": estimateGeneric,
} as const satisfies Record<string, Profile>;

/**
 * The profile that counts for `model`: the first that matches of those supplied (`tokenizerProfile`), then of the
 * built-in ones; an unknown model gets the generic estimate.
 */
export function profileFor(model: string, supplied: readonly Profile[] = []): Profile {
  const name = bareModelName(model);
  const profiles = [...supplied, ...Object.values<Profile>(PROFILES)];
  return profiles.find((profile) => profile.matches(name)) ?? estimateGeneric;
}

/** The built-in profile of an id as an audit names it, calibrated as it was then; `null` = there is none any more. */
export function namedProfile({ profile: name, calibration }: TokenizerFacts): Profile | null {
  const profile = Object.values<Profile>(PROFILES).find(({ id }) => id === name);
  return profile === undefined ? null : calibrated(profile, calibration ?? null);
}

/** Lower case, without a vendor path: `openai/GPT-4o` → `gpt-4o`. */
export function bareModelName(model: string): string {
  return model.trim().toLowerCase().split("/").at(-1) ?? "";
}
