import type { ProviderRow } from "@shiftwork/db";
import { openSecret, providerSecretContext } from "@shiftwork/platform";
import type { ProviderTarget } from "./provider.ts";

/** Where a provider's row says its models are, the secret opened just before the call. */
export function providerTarget(tenantId: string, row: ProviderRow, masterKey: Uint8Array): ProviderTarget {
  const sealedFor = providerSecretContext(tenantId, row.id);
  return {
    baseUrl: row.baseUrl,
    apiKey: row.secret && openSecret(masterKey, row.secret, sealedFor),
    allowPrivateNetwork: row.allowPrivateNetwork,
  };
}
