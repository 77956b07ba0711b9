import type { GenerationStatus, NewEvent, TerminalStatus } from "@shiftwork/contracts";
import { isTerminal } from "@shiftwork/contracts";
import { sql } from "kysely";
import type { Tx } from "../transaction.ts";
import { lockChat } from "./chat-revision.ts";
import { reopenRetried } from "./dead-letters.ts";
import { appendEvents } from "./generation-events.ts";
import { deleteGenerationSummary } from "./generation-summaries.ts";
import { CANCEL_CHANNEL, DISPATCH_CHANNEL, findGeneration } from "./generations.ts";
import { finishAudit } from "./prompt-context-audits.ts";
import { releaseSuccessor } from "./waiting-turns.ts";

export type CancelOutcome =
  /** It was queued and is cancelled now. */
  | { readonly outcome: "cancelled"; readonly epoch: number }
  /** It runs; the worker has been told. */
  | { readonly outcome: "signalled"; readonly epoch: number }
  /** Cancelled or cancelling before. */
  | { readonly outcome: "already"; readonly status: GenerationStatus }
  /** Completed or failed: too late. */
  | { readonly outcome: "finished"; readonly status: TerminalStatus }
  | { readonly outcome: "missing" };

/**
 * Accepts a cancel. One statement decides, so whatever finishes at the same time finds the flag or has ended before it.
 * What waited for a generation that is cancelled here moves up.
 */
export async function requestCancel(
  tx: Tx,
  tenantId: string,
  id: string,
  reason: string | null,
): Promise<CancelOutcome> {
  await lockChatOf(tx, tenantId, id);
  const { rows } = await sql<{ status: GenerationStatus; epoch: number; chatId: string | null }>`
    update generations set
      cancel_requested_at = now(),
      cancel_reason = ${reason},
      status = case when status = 'queued' then 'cancelled' else status end,
      finished_at = case when status = 'queued' then now() end
    where tenant_id = ${tenantId} and id = ${id}
      and status in ('queued', 'running') and cancel_requested_at is null
    returning status, epoch, chat_id as "chatId"
  `.execute(tx);
  const accepted = rows[0];
  if (!accepted) return explainRefusal(tx, tenantId, id);
  if (accepted.status === "running") {
    await sql`select pg_notify(${CANCEL_CHANNEL}, ${id})`.execute(tx);
    return { outcome: "signalled", epoch: accepted.epoch };
  }
  await endQueued(tx, { tenantId, generationId: id, chatId: accepted.chatId });
  return { outcome: "cancelled", epoch: accepted.epoch };
}

/** Chat before generation, as everywhere: what moves up enters the chat under its lock. */
async function lockChatOf(tx: Tx, tenantId: string, id: string): Promise<void> {
  const row = await tx
    .selectFrom("generations")
    .select("chat_id as chatId")
    .where("tenant_id", "=", tenantId)
    .where("id", "=", id)
    .executeTakeFirst();
  if (row?.chatId) await lockChat(tx, tenantId, row.chatId);
}

/** A run that went back into the line may have prepared an audit: that ends with it. What it streamed was taken back. */
export async function endQueued(
  tx: Tx,
  { tenantId, generationId, chatId }: { tenantId: string; generationId: string; chatId: string | null },
): Promise<void> {
  await deleteGenerationSummary(tx, tenantId, generationId);
  await finishAudit(tx, { tenantId, generationId, chatId, status: "cancelled", errorCode: null, auditPatch: {} });
  const cancelled: NewEvent = {
    type: "generation.cancelled",
    data: {
      status: "cancelled",
      messageId: null,
      finishReason: null,
      usage: { inputTokens: null, outputTokens: null },
      error: null,
    },
  };
  await appendEvents(tx, { tenantId, generationId, events: [cancelled] });
  await reopenRetried(tx, tenantId, generationId);
  if (chatId !== null) await releaseSuccessor(tx, { tenantId, chatId, generationId });
  await sql`select pg_notify(${DISPATCH_CHANNEL}, ${tenantId})`.execute(tx);
}

async function explainRefusal(tx: Tx, tenantId: string, id: string): Promise<CancelOutcome> {
  const row = await findGeneration(tx, tenantId, id);
  if (!row) return { outcome: "missing" };
  if (row.status !== "cancelled" && isTerminal(row.status)) return { outcome: "finished", status: row.status };
  return { outcome: "already", status: row.status };
}
