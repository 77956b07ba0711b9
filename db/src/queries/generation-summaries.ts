import { sql } from "kysely";
import { sendAlong } from "../round-trips.ts";
import type { Tx } from "../transaction.ts";
import { lockChat } from "./chat-revision.ts";

/** A model-written summary as an attempt left it for the next. */
export interface StoredSummary {
  /** Over summariser and source, hex. */
  readonly sourceHash: string;
  readonly text: string;
}

export async function findGenerationSummary(
  tx: Tx,
  tenantId: string,
  generationId: string,
): Promise<StoredSummary | null> {
  const row = await tx
    .selectFrom("generation_summaries")
    .select(["source_hash as sourceHash", "text"])
    .where("tenant_id", "=", tenantId)
    .where("generation_id", "=", generationId)
    .executeTakeFirst();
  return row ?? null;
}

/** Keeps the summary while the attempt that holds the fence is the running one; a lost one writes nothing. */
export async function keepGenerationSummary(
  tx: Tx,
  run: { readonly tenantId: string; readonly generationId: string; readonly chatId: string; readonly fence: number },
  summary: StoredSummary,
): Promise<void> {
  // Chat before generation, as everywhere.
  if (!(await lockChat(tx, run.tenantId, run.chatId))) return;
  await sql`
    insert into generation_summaries (tenant_id, generation_id, chat_id, source_hash, text)
    select tenant_id, id, chat_id, ${summary.sourceHash}, ${summary.text} from generations
    where tenant_id = ${run.tenantId} and id = ${run.generationId} and status = 'running' and fence = ${run.fence}
      and chat_id is not null
    for share
    on conflict (tenant_id, generation_id) do update set
      source_hash = excluded.source_hash, text = excluded.text, created_at = now()
  `.execute(tx);
}

/** With the generation its summary ends: what was sent stands in the audit. */
export async function deleteGenerationSummary(tx: Tx, tenantId: string, generationId: string): Promise<void> {
  await sendAlong(
    tx,
    tx.deleteFrom("generation_summaries").where("tenant_id", "=", tenantId).where("generation_id", "=", generationId),
  );
}
