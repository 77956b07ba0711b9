import type { TenantSettings } from "../tables.ts";
import type { Tx } from "../transaction.ts";

export interface NewTenant {
  readonly id: string;
  readonly name: string;
  /** Generations of the tenant that run at once, at most. Default 16. */
  readonly maxConcurrency?: number;
  /** Generations of the tenant that may wait, at most. Default 10,000. */
  readonly maxQueued?: number;
}

export async function insertTenant(tx: Tx, tenant: NewTenant): Promise<void> {
  await tx
    .insertInto("tenants")
    .values({
      id: tenant.id,
      name: tenant.name,
      ...(tenant.maxConcurrency === undefined ? {} : { max_concurrency: tenant.maxConcurrency }),
      ...(tenant.maxQueued === undefined ? {} : { max_queued: tenant.maxQueued }),
    })
    .execute();
}

export async function readTenantLimits(tx: Tx, tenantId: string): Promise<{ maxQueued: number }> {
  return tx
    .selectFrom("tenants")
    .select("max_queued as maxQueued")
    .where("id", "=", tenantId)
    .executeTakeFirstOrThrow();
}

/** `{}` when the tenant never chose anything. */
export async function readTenantSettings(tx: Tx, tenantId: string): Promise<TenantSettings> {
  const row = await tx
    .selectFrom("tenant_settings")
    .select("settings")
    .where("tenant_id", "=", tenantId)
    .executeTakeFirst();
  return row?.settings ?? {};
}

export async function writeTenantSettings(tx: Tx, tenantId: string, settings: TenantSettings): Promise<void> {
  await tx
    .insertInto("tenant_settings")
    .values({ tenant_id: tenantId, settings })
    .onConflict((conflict) => conflict.column("tenant_id").doUpdateSet({ settings }))
    .execute();
}
