import type { Tx } from "../transaction.ts";

export interface ImportRow {
  readonly id: string;
  readonly kind: string;
  readonly fileName: string | null;
  /** What was made: uuids and counts. */
  readonly result: object;
  readonly warnings: readonly object[];
  readonly createdAt: Date;
}

/** Written in the transaction that makes what the file held; returns when it was. */
export async function insertImport(tx: Tx, tenantId: string, row: Omit<ImportRow, "createdAt">): Promise<Date> {
  const { createdAt } = await tx
    .insertInto("imports")
    .values({
      tenant_id: tenantId,
      id: row.id,
      kind: row.kind,
      file_name: row.fileName,
      result: row.result,
      warnings: [...row.warnings],
    })
    .returning("created_at as createdAt")
    .executeTakeFirstOrThrow();
  return createdAt;
}

export async function findImport(tx: Tx, tenantId: string, id: string): Promise<ImportRow | null> {
  const row = await tx
    .selectFrom("imports")
    .select(["id", "kind", "file_name as fileName", "result", "warnings", "created_at as createdAt"])
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row ?? null;
}
