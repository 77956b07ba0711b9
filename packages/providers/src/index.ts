export { completeText, type CompletedText } from "./complete-text.ts";
export { createSummariser, summaryCost, type CallingSummariser, type SummariserOptions } from "./create-summariser.ts";
export { createEcho, type EchoOptions } from "./echo.ts";
export { bringVectors, type BringOptions, type BroughtVectors } from "./embeddings/bring-vectors.ts";
export {
  createEmbedder,
  findRecallChoice,
  type EmbedderHost,
  type RecallChoice,
} from "./embeddings/choose-embedder.ts";
export { embeddingKey } from "./embeddings/embedding-key.ts";
export { EmbeddingsUnavailableError, type EmbeddingProvider } from "./embeddings/embedding-provider.ts";
export { EMBEDDING_PROVIDERS, isCallOverNetwork, questionWaitMs } from "./embeddings/registry.ts";
export { toStored } from "./embeddings/stored-vector.ts";
export { createUseLite, type UseLite } from "./embeddings/use-lite.ts";
export { createVectorCache, type VectorCache } from "./embeddings/vector-cache.ts";
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
