import type { RecallSetting } from "@shiftwork/contracts";
import type { ProviderTarget, ProviderTimeouts } from "../provider.ts";
import type { EmbeddingProvider } from "./embedding-provider.ts";
import { hashNgram } from "./hash-ngram.ts";
import { createOpenAiEmbeddings } from "./openai-embeddings.ts";

/** What providers of vectors need of their host. */
export interface EmbeddingHost {
  readonly useLite: EmbeddingProvider;
  readonly timeouts: ProviderTimeouts;
  /** Where the setting's provider is, "" = it names none. Somebody else there, other vectors. */
  readonly baseUrl: string;
  /** Where the setting's provider is, its secret opened; called just before each call. */
  readonly target: () => ProviderTarget;
}

export type EmbeddingKind = RecallSetting["provider"];
type SettingOf<Kind extends EmbeddingKind> = Extract<RecallSetting, { readonly provider: Kind }>;

/** Below it, models of today's endpoints speak of unrelated texts; older ones need a value of their own. */
const USUAL_FLOOR = 0.25;

/** Every kind of vectors. A new one is a file, a line here and its setting; the contract test picks it up. */
export const EMBEDDING_PROVIDERS = {
  "hash-ngram-1024": () => hashNgram,
  "use-lite": (_setting, { useLite }) => useLite,
  "openai-compatible": ({ providerId, model, dims, minimumCosine = USUAL_FLOOR }, { baseUrl, target, timeouts }) =>
    createOpenAiEmbeddings({
      id: `${providerId}/${model}`,
      version: baseUrl,
      model,
      dims,
      floor: minimumCosine,
      target,
      timeouts,
    }),
} as const satisfies {
  readonly [Kind in EmbeddingKind]: (setting: SettingOf<Kind>, host: EmbeddingHost) => EmbeddingProvider;
};

/** The provider that a setting names. */
export function embeddingProvider(setting: RecallSetting, host: EmbeddingHost): EmbeddingProvider {
  const create = EMBEDDING_PROVIDERS[setting.provider] as (of: RecallSetting, host: EmbeddingHost) => EmbeddingProvider;
  return create(setting, host);
}

/** How long a turn may wait for its question's vector, in milliseconds: it is computed here, or a call over the network. */
export function questionWaitMs(setting: RecallSetting): number {
  switch (setting.provider) {
    case "hash-ngram-1024":
      return 0;
    case "use-lite":
      return setting.questionWaitMs ?? 500;
    case "openai-compatible":
      return setting.questionWaitMs ?? 0;
  }
}

/** Whether somebody else computes the vectors. */
export function isCallOverNetwork(setting: RecallSetting): boolean {
  return setting.provider === "openai-compatible";
}

/** Whether vectors are computed where they are asked for: nothing is stored, and none is ever missing. */
export function isComputedInPlace(setting: RecallSetting): boolean {
  return setting.provider === "hash-ngram-1024";
}
