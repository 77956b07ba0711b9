/** Turns texts into vectors. Every kind passes `embedding-provider.contract.test.ts`. */
export interface EmbeddingProvider {
  /** Names provider and model; part of a stored vector's key. */
  readonly id: string;
  /** Another version, other vectors for the same text. */
  readonly version?: string;
  /** Numbers in a vector. */
  readonly dims: number;
  /** Of a longer text only the beginning counts. */
  readonly maxInputTokens: number;
  /** Texts are unrelated below this cosine, 0..1. */
  readonly floor: number;
  /**
   * One vector per text, in order, each of length 1, or all zeros for a text that this provider cannot judge. Throws
   * `ProviderError` or `EmbeddingsUnavailableError`; after an abort, throws `signal.reason`.
   */
  embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]>;
}

/** The provider cannot run in this installation: what it needs is not installed, or does not load. */
export class EmbeddingsUnavailableError extends Error {
  readonly code = "EMBEDDINGS_UNAVAILABLE";
  readonly providerId: string;
  /** What to do about it. */
  readonly fix: string;

  constructor(providerId: string, fix: string) {
    super(`The embedding provider "${providerId}" cannot run here. ${fix}`);
    this.name = "EmbeddingsUnavailableError";
    this.providerId = providerId;
    this.fix = fix;
  }
}
