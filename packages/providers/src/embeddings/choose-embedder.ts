import { chooseRecall, decodeId, type RecallSetting } from "@shiftwork/contracts";
import { findProvider, type ProviderRow, type StandingSettings, type Tx } from "@shiftwork/db";
import { providerTarget } from "../provider-target.ts";
import type { ProviderTimeouts } from "../provider.ts";
import type { EmbeddingProvider } from "./embedding-provider.ts";
import { embeddingProvider, isComputedInPlace } from "./registry.ts";

/** Whose vectors a chat recalls by, with the row of whom to ask. */
export interface RecallChoice {
  readonly setting: RecallSetting;
  /** `null` = the setting names none. */
  readonly row: ProviderRow | null;
}

/** The chat's choice; `null` = the built-in vectors, which need no host and stand in for a provider that was removed. */
export async function findRecallChoice(
  tx: Tx,
  tenantId: string,
  standing: StandingSettings,
): Promise<RecallChoice | null> {
  const setting = chooseRecall(standing);
  if (isComputedInPlace(setting)) return null;
  if (setting.provider !== "openai-compatible") return { setting, row: null };
  const id = decodeId("provider", setting.providerId);
  const row = id === null ? null : await findProvider(tx, tenantId, id);
  return row && { setting, row };
}

/** What a process has for computing vectors. */
export interface EmbedderHost {
  readonly useLite: EmbeddingProvider;
  readonly timeouts: ProviderTimeouts;
  /** Opens secrets; `null` = this process calls nobody. */
  readonly masterKey: Uint8Array | null;
}

/** The chosen provider, ready to be asked. */
export function createEmbedder(
  { setting, row }: RecallChoice,
  tenantId: string,
  { useLite, timeouts, masterKey }: EmbedderHost,
): EmbeddingProvider {
  return embeddingProvider(setting, {
    useLite,
    timeouts,
    baseUrl: row?.baseUrl ?? "",
    target: () => {
      if (row === null || masterKey === null) throw new Error("this process asks no provider for vectors");
      return providerTarget(tenantId, row, masterKey);
    },
  });
}
