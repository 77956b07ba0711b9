import { sql, type Kysely, type Transaction } from "kysely";
import { sendAlong } from "./round-trips.ts";
import type { Tables } from "./tables.ts";

export type Db = Kysely<Tables>;
export type Tx = Transaction<Tables>;

/**
 * Runs `work` in a transaction that sees one tenant's rows only. Every content query goes through here and names the
 * tenant again in its own `where`.
 */
export function withTenant<T>(db: Db, tenantId: string, work: (tx: Tx) => Promise<T>): Promise<T> {
  return db.transaction().execute(async (tx) => {
    await actAs(tx, tenantId);
    return work(tx);
  });
}

/** Sets the tenant for the rest of the transaction; a batch over tenants calls it once per tenant. */
export async function actAs(tx: Tx, tenantId: string): Promise<void> {
  await sendAlong(tx, sql`select set_config('app.tenant_id', ${tenantId}, true)`);
}
