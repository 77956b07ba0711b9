import type { Tx } from "../transaction.ts";
import type { IdPage } from "./characters.ts";

export interface PersonaRow {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const COLUMNS = ["id", "name", "description", "created_at as createdAt", "updated_at as updatedAt"] as const;

export async function insertPersona(
  tx: Tx,
  tenantId: string,
  persona: Pick<PersonaRow, "id" | "name" | "description">,
): Promise<void> {
  await tx
    .insertInto("personas")
    .values({ tenant_id: tenantId, id: persona.id, name: persona.name, description: persona.description })
    .execute();
}

export async function findPersona(tx: Tx, tenantId: string, id: string): Promise<PersonaRow | null> {
  const row = await tx
    .selectFrom("personas")
    .select(COLUMNS)
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row ?? null;
}

/** Newest first. */
export async function listPersonas(tx: Tx, tenantId: string, page: IdPage): Promise<readonly PersonaRow[]> {
  return tx
    .selectFrom("personas")
    .select(COLUMNS)
    .where("tenant_id", "=", tenantId)
    .$if(page.afterId !== null, (query) => query.where("id", "<", page.afterId ?? ""))
    .orderBy("id", "desc")
    .limit(page.limit)
    .execute();
}
