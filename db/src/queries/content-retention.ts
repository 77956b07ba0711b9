import { sql } from "kysely";
import type { Tx } from "../transaction.ts";

/**
 * Deletes what generations that ended longer than `keptMs` ago leave of texts: their audits, and what was asked for.
 * Messages, memories and characters are the tenant's own to delete.
 */
export async function deleteOldContent(tx: Tx, tenantId: string, keptMs: number): Promise<void> {
  const ended = sql`
    select from generations as ended
    where ended.tenant_id = ${tenantId} and ended.id = generation_id
      and ended.finished_at < now() - make_interval(secs => ${keptMs / 1000})
  `;
  // Ids begin with the time of acceptance: whatever was cleared before is not looked at again.
  const older = sql`tenant_id = ${tenantId} and generation_id < ${smallestIdOf(keptMs)}`;
  await sql`delete from prompt_context_audits where ${older} and slot = 'finished' and exists (${ended})`.execute(tx);
  await sql`delete from generation_contents where ${older} and exists (${ended})`.execute(tx);
}

/** The first UUIDv7 of the millisecond `agoMs` before now (RFC 9562 §5.7). */
function smallestIdOf(agoMs: number) {
  return sql`rpad(
    lpad(to_hex((extract(epoch from now()) * 1000 - ${agoMs}::float8)::bigint), 12, '0'), 32, '0'
  )::uuid`;
}
