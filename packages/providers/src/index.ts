export { completeText, type CompletedText } from "./complete-text.ts";
export { createSummariser, summaryCost, type CallingSummariser, type SummariserOptions } from "./create-summariser.ts";
export { createEcho, type EchoOptions } from "./echo.ts";
export { isAddressAllowed, type Resolve } from "./guard-address.ts";
export { createOpenAiCompatible } from "./openai-compatible.ts";
export { createOpenAiCompatibleText } from "./openai-compatible-text.ts";
export type { OpenAiCompatibleOptions } from "./openai-post.ts";
export {
  ProviderError,
  type Provider,
  type ProviderTarget,
  type ProviderTimeouts,
  type StreamCall,
  type StreamPart,
} from "./provider.ts";
export { providerTarget } from "./provider-target.ts";
export { PROVIDERS, PROVIDER_KINDS, providerByKind, type ProviderKind } from "./registry.ts";
export { streamingRequest, wireBody } from "./wire-body.ts";
