import type { ProviderModel } from "../tables.ts";
import type { Tx } from "../transaction.ts";

export interface ProviderRow {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly baseUrl: string;
  /** Sealed; opened just before a call. */
  readonly secret: Uint8Array | null;
  readonly allowPrivateNetwork: boolean;
  readonly models: readonly ProviderModel[];
}

export async function insertProvider(tx: Tx, tenantId: string, provider: ProviderRow): Promise<void> {
  await tx
    .insertInto("providers")
    .values({
      tenant_id: tenantId,
      id: provider.id,
      name: provider.name,
      kind: provider.kind,
      base_url: provider.baseUrl,
      secret: provider.secret,
      allow_private_network: provider.allowPrivateNetwork,
      models: [...provider.models],
    })
    .execute();
}

export async function findProvider(tx: Tx, tenantId: string, id: string): Promise<ProviderRow | null> {
  return (await selectProviders(tx, tenantId).where("id", "=", id).executeTakeFirst()) ?? null;
}

/** Oldest first. */
export async function listProviders(tx: Tx, tenantId: string): Promise<readonly ProviderRow[]> {
  return selectProviders(tx, tenantId).orderBy("created_at").orderBy("id").execute();
}

function selectProviders(tx: Tx, tenantId: string) {
  return tx
    .selectFrom("providers")
    .select([
      "id",
      "name",
      "kind",
      "base_url as baseUrl",
      "secret",
      "allow_private_network as allowPrivateNetwork",
      "models",
    ])
    .where("tenant_id", "=", tenantId);
}
