import type { TerminalStatus } from "@shiftwork/contracts";
import { sql } from "kysely";
import type { Tx } from "../transaction.ts";
import { lockChat } from "./chat-revision.ts";
import { finishAudit } from "./prompt-context-audits.ts";

/** A prepared audit no run will finish. */
export interface OrphanedAudit {
  readonly chatId: string;
  readonly generationId: string;
  /** What its generation came to; null = the generation is gone. */
  readonly ended: {
    readonly status: TerminalStatus;
    readonly errorCode: string | null;
    readonly finishedAt: Date;
  } | null;
}

/** The tenant's prepared audits whose generation has ended or is gone, `limit` at most. */
export async function findOrphanedAudits(tx: Tx, tenantId: string, limit: number): Promise<readonly OrphanedAudit[]> {
  const { rows } = await sql<NonNullable<OrphanedAudit["ended"]> & Omit<OrphanedAudit, "ended"> & { gone: boolean }>`
    select audit.chat_id as "chatId", audit.generation_id as "generationId", generations.id is null as gone,
      generations.status, generations.error_code as "errorCode", generations.finished_at as "finishedAt"
    from prompt_context_audits as audit
    left join generations on generations.tenant_id = audit.tenant_id and generations.id = audit.generation_id
    where audit.tenant_id = ${tenantId} and audit.slot = 'prepared'
      and (generations.id is null or generations.status in ('completed', 'failed', 'cancelled'))
    limit ${limit}
  `.execute(tx);
  return rows.map(({ chatId, generationId, gone, ...ended }) => ({ chatId, generationId, ended: gone ? null : ended }));
}

/** Ends the audit as its generation ended; one without a generation explains nothing any more and is removed. */
export async function settleOrphanedAudit(tx: Tx, tenantId: string, audit: OrphanedAudit): Promise<void> {
  const { chatId, generationId, ended } = audit;
  // A run that prepares its own audit in the meantime takes the slot over under the same lock.
  if (!(await lockChat(tx, tenantId, chatId))) return;
  if (ended !== null) return finishAudit(tx, { tenantId, chatId, generationId, auditPatch: {}, ...ended });
  await tx
    .deleteFrom("prompt_context_audits")
    .where("tenant_id", "=", tenantId)
    .where("chat_id", "=", chatId)
    .where("slot", "=", "prepared")
    .where("generation_id", "=", generationId)
    .execute();
}
