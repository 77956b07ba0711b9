import { sql } from "kysely";
import type { Db } from "../transaction.ts";

/** Takes or renews a lease for `leaseMs`; false = somebody else holds it. */
export async function takeLease(db: Db, name: string, holder: string, leaseMs: number): Promise<boolean> {
  const { rows } = await sql`
    insert into leases (name, holder, expires_at) values (${name}, ${holder}, now() + make_interval(secs => ${leaseMs / 1000}))
    on conflict (name) do update set holder = excluded.holder, expires_at = excluded.expires_at
    where leases.holder = excluded.holder or leases.expires_at < now()
    returning holder
  `.execute(db);
  return rows.length > 0;
}

/** Lets the next one have it at once. */
export async function giveLeaseBack(db: Db, name: string, holder: string): Promise<void> {
  await db.deleteFrom("leases").where("name", "=", name).where("holder", "=", holder).execute();
}
