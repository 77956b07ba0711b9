import { createEcho } from "./echo.ts";
import { createOpenAiCompatible } from "./openai-compatible.ts";
import { createOpenAiCompatibleText } from "./openai-compatible-text.ts";
import type { Provider } from "./provider.ts";

/** Fast enough to read along, slow enough to see that it streams, in milliseconds per word. */
const ECHO_WORD_DELAY_MS = 20;

/** Every provider kind. A new one is a file and a line here; `provider.contract.test.ts` picks it up. */
export const PROVIDERS = {
  "openai-compatible": createOpenAiCompatible(),
  "openai-compatible-text": createOpenAiCompatibleText(),
  echo: createEcho({ wordDelayMs: ECHO_WORD_DELAY_MS }),
} as const satisfies Record<string, Provider>;

export type ProviderKind = keyof typeof PROVIDERS;

/** The kinds in registry order. */
export const PROVIDER_KINDS = Object.keys(PROVIDERS) as readonly ProviderKind[];

/** The provider of a kind, or `null` when there is none. */
export function providerByKind(kind: string): Provider | null {
  return PROVIDER_KINDS.includes(kind as ProviderKind) ? PROVIDERS[kind as ProviderKind] : null;
}
