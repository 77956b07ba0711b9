import { sql, type RawBuilder } from "kysely";
import type { TenantSettings } from "../tables.ts";
import type { Db, Tx } from "../transaction.ts";
import type { IdPage } from "./characters.ts";
import { DISPATCH_CHANNEL } from "./generations.ts";

export interface NewTenant {
  readonly id: string;
  readonly name: string;
  /** Generations of the tenant that run at once, at most. Default 16. */
  readonly maxConcurrency?: number;
  /** 1–100: its share of the slots against that of others. Default 1. */
  readonly weight?: number;
  /** Generations that run at once while other tenants wait, at most. Default: no such cap. */
  readonly concurrencyShare?: number | null;
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
      ...(tenant.weight === undefined ? {} : { weight: tenant.weight }),
      concurrency_share: tenant.concurrencyShare ?? null,
      ...(tenant.maxQueued === undefined ? {} : { max_queued: tenant.maxQueued }),
    })
    .execute();
}

/** A tenant as admins see it. */
export interface TenantRow extends Required<NewTenant> {
  readonly pausedAt: Date | null;
  readonly createdAt: Date;
}

/** As `shiftwork_admin`; `null` = there is none. */
export async function findTenant(admin: Db, id: string): Promise<TenantRow | null> {
  return (await selectTenants(admin).where("id", "=", id).executeTakeFirst()) ?? null;
}

/** Newest first. As `shiftwork_admin`. */
export async function listTenants(admin: Db, page: IdPage): Promise<readonly TenantRow[]> {
  return selectTenants(admin)
    .$if(page.afterId !== null, (query) => query.where("id", "<", page.afterId ?? ""))
    .orderBy("id", "desc")
    .limit(page.limit)
    .execute();
}

/** What is undefined stays. As `shiftwork_admin`. False = there is no such tenant. */
export async function changeTenant(
  admin: Db,
  id: string,
  change: { readonly [Field in Exclude<keyof NewTenant, "id">]?: NewTenant[Field] | undefined },
): Promise<boolean> {
  const { name = null, maxConcurrency = null, maxQueued = null, weight = null, concurrencyShare } = change;
  return signalled(
    admin,
    sql`
      update tenants set
        name = coalesce(${name}, name),
        max_concurrency = coalesce(${maxConcurrency}::int, max_concurrency),
        max_queued = coalesce(${maxQueued}::int, max_queued),
        weight = coalesce(${weight}::int, weight),
        concurrency_share = ${concurrencyShare === undefined ? sql`concurrency_share` : sql`${concurrencyShare}::int`}
      where id = ${id} returning id
    `,
  );
}

function selectTenants(admin: Db) {
  return admin
    .selectFrom("tenants")
    .select([
      "id",
      "name",
      "max_concurrency as maxConcurrency",
      "max_queued as maxQueued",
      "weight",
      "concurrency_share as concurrencyShare",
      "paused_at as pausedAt",
      "created_at as createdAt",
    ]);
}

export async function readTenantLimits(tx: Tx, tenantId: string): Promise<{ maxQueued: number }> {
  return tx
    .selectFrom("tenants")
    .select("max_queued as maxQueued")
    .where("id", "=", tenantId)
    .executeTakeFirstOrThrow();
}

/** Whether there is such a tenant; seen from inside it. */
export async function tenantExists(tx: Tx, tenantId: string): Promise<boolean> {
  const row = await tx.selectFrom("tenants").select("id").where("id", "=", tenantId).executeTakeFirst();
  return row !== undefined;
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

/**
 * Stops new starts of one tenant; what runs goes on, what was handed out and not begun is taken back within a pass of the
 * reconciler. As `shiftwork_admin`; safe twice, the first time stays. False = there is no such tenant.
 */
export async function pauseTenant(db: Db, tenantId: string): Promise<boolean> {
  return signalled(
    db,
    sql`update tenants set paused_at = coalesce(paused_at, now()) where id = ${tenantId} returning id`,
  );
}

/** Lets the tenant's line go on at once. As `shiftwork_admin`. False = there is no such tenant. */
export async function resumeTenant(db: Db, tenantId: string): Promise<boolean> {
  return signalled(db, sql`update tenants set paused_at = null where id = ${tenantId} returning id`);
}

/** The dispatcher keeps limits in memory: it is told to read all again. */
async function signalled(db: Db, update: RawBuilder<unknown>): Promise<boolean> {
  const { rows } = await sql`
    with changed as (${update})
    select pg_notify(${DISPATCH_CHANNEL}, '') from changed
  `.execute(db);
  return rows.length > 0;
}
