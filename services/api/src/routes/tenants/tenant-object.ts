import { encodeId, type TenantObject } from "@shiftwork/contracts";
import { findTenant, type Db, type TenantRow } from "@shiftwork/db";
import { notFound } from "../../errors.ts";

/** The tenant as admins see it, or missing. */
export async function readTenantObject(adminDb: Db, id: string): Promise<TenantObject> {
  const row = await findTenant(adminDb, id);
  if (!row) throw notFound("tenant");
  return tenantObject(row);
}

export function tenantObject({ id, pausedAt, createdAt, ...facts }: TenantRow): TenantObject {
  return {
    id: encodeId("tenant", id),
    object: "tenant",
    ...facts,
    pausedAt: pausedAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  };
}
