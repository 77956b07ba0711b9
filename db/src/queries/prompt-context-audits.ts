import type { TerminalStatus } from "@shiftwork/contracts";
import { sql } from "kysely";
import type { AuditPatch } from "../tables.ts";
import { sendAlong } from "../round-trips.ts";
import type { Tx } from "../transaction.ts";

export interface PreparedAudit {
  readonly tenantId: string;
  readonly chatId: string;
  readonly generationId: string;
  readonly attempt: number;
  readonly providerId: string;
  readonly providerKind: string;
  readonly model: string;
  readonly strategy: string;
  readonly tokenizerProfile: string;
  readonly approximate: boolean;
  readonly contextLimit: number;
  readonly reservedForReply: number;
  readonly promptTokens: number | null;
  readonly included: number;
  readonly excluded: number;
  readonly summarised: number;
  readonly truncated: number;
  readonly assemblyHash: string | null;
  readonly prefixHash: string | null;
  /** Deflated JSON. */
  readonly document: Uint8Array;
  readonly reasons: readonly ReasonCount[];
}

/** How many blocks of a source stand in or out for one reason; outlives the audit. */
export interface ReasonCount {
  readonly source: string;
  readonly reason: string;
  readonly included: boolean;
  readonly count: number;
}

/** An audit as stored. */
export interface AuditRow extends Omit<PreparedAudit, "reasons" | "tenantId"> {
  readonly slot: "prepared" | "finished";
  readonly status: "prepared" | TerminalStatus;
  readonly errorCode: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  readonly patch: AuditPatch;
}

/** Writes the audit of a request that is about to leave; a chat has at most one prepared audit. */
export async function prepareAudit(tx: Tx, audit: PreparedAudit): Promise<void> {
  const { tenantId, reasons, ...row } = audit;
  const values = {
    tenant_id: tenantId,
    chat_id: row.chatId,
    slot: "prepared" as const,
    generation_id: row.generationId,
    attempt: row.attempt,
    status: "prepared" as const,
    error_code: null,
    provider_id: row.providerId,
    provider_kind: row.providerKind,
    model: row.model,
    strategy: row.strategy,
    tokenizer_profile: row.tokenizerProfile,
    approximate: row.approximate,
    context_limit: row.contextLimit,
    reserved_for_reply: row.reservedForReply,
    prompt_tokens: row.promptTokens,
    included: row.included,
    excluded: row.excluded,
    summarised: row.summarised,
    truncated: row.truncated,
    assembly_hash: row.assemblyHash,
    prefix_hash: row.prefixHash,
    created_at: sql<Date>`now()`,
    finished_at: null,
    document: row.document,
    patch: {},
  };
  await sendAlong(
    tx,
    tx
      .insertInto("prompt_context_audits")
      .values(values)
      .onConflict((conflict) => conflict.columns(["tenant_id", "chat_id", "slot"]).doUpdateSet(values)),
  );
  await replaceReasons(tx, tenantId, row.generationId, reasons);
}

async function replaceReasons(
  tx: Tx,
  tenantId: string,
  generationId: string,
  reasons: readonly ReasonCount[],
): Promise<void> {
  await sendAlong(
    tx,
    tx.deleteFrom("generation_reasons").where("tenant_id", "=", tenantId).where("generation_id", "=", generationId),
  );
  if (reasons.length === 0) return;
  await sendAlong(
    tx,
    tx
      .insertInto("generation_reasons")
      .values(reasons.map((reason) => ({ tenant_id: tenantId, generation_id: generationId, ...reason }))),
  );
}

export interface AuditEnding {
  readonly tenantId: string;
  readonly generationId: string;
  readonly chatId: string | null;
  readonly status: TerminalStatus;
  readonly errorCode: string | null;
  readonly auditPatch: AuditPatch;
  /** Default: now. */
  readonly finishedAt?: Date;
}

/**
 * Moves the generation's prepared audit into the finished slot, replacing the one that stood there. A run that ended
 * before it prepared one leaves the chat's last audit alone.
 */
export async function finishAudit(tx: Tx, ending: AuditEnding): Promise<void> {
  if (ending.chatId === null) return;
  await sendAlong(
    tx,
    sql`
    delete from prompt_context_audits as finished
    where finished.tenant_id = ${ending.tenantId} and finished.chat_id = ${ending.chatId} and finished.slot = 'finished'
      and exists (
        select from prompt_context_audits as prepared
        where prepared.tenant_id = ${ending.tenantId} and prepared.chat_id = ${ending.chatId}
          and prepared.slot = 'prepared' and prepared.generation_id = ${ending.generationId}
      )
  `,
  );
  await sendAlong(
    tx,
    sql`
    update prompt_context_audits set
      slot = 'finished', status = ${ending.status}, error_code = ${ending.errorCode},
      finished_at = coalesce(${ending.finishedAt ?? null}::timestamptz, now()),
      patch = patch || ${ending.auditPatch}::jsonb
    where tenant_id = ${ending.tenantId} and chat_id = ${ending.chatId}
      and slot = 'prepared' and generation_id = ${ending.generationId}
  `,
  );
}

/** Nobody can be shown what the chat's last generation saw any more, nor can it be sent again. */
export async function deleteFinishedAudit(tx: Tx, tenantId: string, chatId: string): Promise<void> {
  await tx
    .deleteFrom("prompt_context_audits")
    .where("tenant_id", "=", tenantId)
    .where("chat_id", "=", chatId)
    .where("slot", "=", "finished")
    .execute();
}

/** The chat's audits: the finished one, and the prepared one while a run holds a request. */
export async function findChatAudit(
  tx: Tx,
  tenantId: string,
  chatId: string,
): Promise<{ readonly finished: AuditRow | null; readonly prepared: AuditRow | null }> {
  const rows = await tx
    .selectFrom("prompt_context_audits")
    .select([
      "chat_id as chatId",
      "slot",
      "generation_id as generationId",
      "attempt",
      "status",
      "error_code as errorCode",
      "provider_id as providerId",
      "provider_kind as providerKind",
      "model",
      "strategy",
      "tokenizer_profile as tokenizerProfile",
      "approximate",
      "context_limit as contextLimit",
      "reserved_for_reply as reservedForReply",
      "prompt_tokens as promptTokens",
      "included",
      "excluded",
      "summarised",
      "truncated",
      "assembly_hash as assemblyHash",
      "prefix_hash as prefixHash",
      "created_at as createdAt",
      "finished_at as finishedAt",
      "document",
      "patch",
    ])
    .where("tenant_id", "=", tenantId)
    .where("chat_id", "=", chatId)
    .execute();
  return {
    finished: rows.find((row) => row.slot === "finished") ?? null,
    prepared: rows.find((row) => row.slot === "prepared") ?? null,
  };
}
