import type { Tx } from "../transaction.ts";

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
