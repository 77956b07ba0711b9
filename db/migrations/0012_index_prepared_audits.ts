import { sql, type Kysely } from "kysely";

/** As many rows as there are runs: what looks for audits that a run has left behind reads no other. */
export async function up(db: Kysely<never>): Promise<void> {
  await sql`
    create index prompt_context_audits_prepared on prompt_context_audits (tenant_id, generation_id)
    where slot = 'prepared'
  `.execute(db);
}
