import type { ModelFacts } from "../settings.ts";
import { bareModelName } from "./profiles.ts";

// Context window and largest reply in tokens, as the vendors' model pages state them. The longest matching prefix wins.
const MODEL_TABLE: { readonly [prefix: string]: readonly [contextLimit: number, maxOutputTokens: number] } = {
  echo: [32_768, 4_096],
  "chatgpt-4o": [128_000, 16_384],
  "gpt-4o": [128_000, 16_384],
  "gpt-4.1": [1_047_576, 32_768],
  "gpt-4.5": [128_000, 16_384],
  "gpt-5": [400_000, 128_000],
  "gpt-5-chat": [128_000, 16_384],
  "gpt-oss": [131_072, 131_072],
  o1: [200_000, 100_000],
  "o1-mini": [128_000, 65_536],
  "o1-preview": [128_000, 32_768],
  o3: [200_000, 100_000],
  "o4-mini": [200_000, 100_000],
  "gpt-4": [8_192, 8_192],
  "gpt-4-32k": [32_768, 32_768],
  "gpt-4-turbo": [128_000, 4_096],
  "gpt-4-1106": [128_000, 4_096],
  "gpt-4-0125": [128_000, 4_096],
  "gpt-4-vision": [128_000, 4_096],
  "gpt-3.5-turbo": [16_385, 4_096],
  "gpt-35-turbo": [16_385, 4_096],
  "claude-3": [200_000, 4_096],
  "claude-3-5": [200_000, 8_192],
  "claude-3-7": [200_000, 64_000],
  "claude-sonnet-4": [200_000, 64_000],
  "claude-opus-4": [200_000, 32_000],
  "claude-haiku-4": [200_000, 64_000],
  "gemini-1.5-pro": [2_097_152, 8_192],
  "gemini-1.5-flash": [1_048_576, 8_192],
  "gemini-2.0": [1_048_576, 8_192],
  "gemini-2.5": [1_048_576, 65_536],
  "llama-3.1": [131_072, 131_072],
  "llama-3.2": [131_072, 131_072],
  "llama-3.3": [131_072, 131_072],
};

/** Window and largest reply of a well-known model; `null` for both when the name is not in the table. */
export function modelFacts(model: string): ModelFacts {
  const name = bareModelName(model).replace(/^ft:/, "");
  const prefix = Object.keys(MODEL_TABLE)
    .filter((candidate) => startsAsWord(name, candidate))
    .sort((a, b) => b.length - a.length)[0];
  const facts = prefix === undefined ? undefined : MODEL_TABLE[prefix];
  return { contextLimit: facts?.[0] ?? null, maxOutputTokens: facts?.[1] ?? null };
}

// `o1` must not claim `o11`, and `gpt-4` must not claim `gpt-4b`.
function startsAsWord(name: string, prefix: string): boolean {
  return name.startsWith(prefix) && !/^[a-z0-9]/.test(name.slice(prefix.length));
}
