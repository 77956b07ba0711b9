import { sql } from "kysely";
import type { Db, Tx } from "../transaction.ts";

/** Which of these generations still have their audit: a chat keeps its newest only. */
export async function findAuditedGenerations(
  tx: Tx,
  tenantId: string,
  generationIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (generationIds.length === 0) return new Set();
  const rows = await tx
    .selectFrom("prompt_context_audits")
    .select("generation_id as generationId")
    .where("tenant_id", "=", tenantId)
    .where("generation_id", "in", [...generationIds])
    .execute();
  return new Set(rows.map((row) => row.generationId));
}

/** As `findAuditedGenerations`, of several tenants; as admin. */
export async function findAuditedEverywhere(
  admin: Db,
  generations: readonly { readonly tenantId: string; readonly id: string }[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ generationId: string }>`
    select audit.generation_id as "generationId"
    from jsonb_to_recordset(${generations.map(({ tenantId, id }) => ({ tenantId, id }))}::jsonb) as asked ("tenantId" uuid, id uuid)
    join prompt_context_audits as audit on audit.tenant_id = asked."tenantId" and audit.generation_id = asked.id
  `.execute(admin);
  return new Set(rows.map((row) => row.generationId));
}
