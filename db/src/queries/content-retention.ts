import { sql } from "kysely";
import type { Tx } from "../transaction.ts";

/**
 * Deletes what generations that ended longer than `keptMs` ago leave of texts: their audits, and what was asked for; `most`
 * of each at once, true = there may be more. Messages, memories and characters are the tenant's own to delete.
 */
export async function deleteOldContent(tx: Tx, tenantId: string, keptMs: number, most: number): Promise<boolean> {
  const ended = sql`
    select from generations as ended
    where ended.tenant_id = ${tenantId} and ended.id = generation_id
      and ended.finished_at < now() - make_interval(secs => ${keptMs / 1000})
  `;
  // Ids begin with the time of acceptance: whatever was cleared before is not looked at again.
  const older = sql`tenant_id = ${tenantId} and generation_id < ${smallestIdOf(keptMs)}`;
  const audits = await sql`
    delete from prompt_context_audits where tenant_id = ${tenantId} and ctid = any(array(
      select ctid from prompt_context_audits
      where ${older} and slot = 'finished' and exists (${ended}) limit ${most} for update
    ))
  `.execute(tx);
  const contents = await sql`
    delete from generation_contents where tenant_id = ${tenantId} and ctid = any(array(
      select ctid from generation_contents where ${older} and exists (${ended}) limit ${most} for update
    ))
  `.execute(tx);
  return [audits, contents].some(({ numAffectedRows }) => Number(numAffectedRows) === most);
}

/** The first UUIDv7 of the millisecond `agoMs` before now (RFC 9562 §5.7). */
function smallestIdOf(agoMs: number) {
  return sql`rpad(
    lpad(to_hex((extract(epoch from now()) * 1000 - ${agoMs}::float8)::bigint), 12, '0'), 32, '0'
  )::uuid`;
}
