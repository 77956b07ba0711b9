import { errorFingerprint, type FailurePlace } from "@shiftwork/contracts";
import type { NewEvent, Problem, TerminalStatus } from "@shiftwork/contracts";
import type { ProviderRequest, StageReport, ToolCall } from "@shiftwork/pipeline";
import { sql } from "kysely";
import type { AuditPatch, GenerationContext, GenerationRequest } from "../tables.ts";
import { sendAlong } from "../round-trips.ts";
import type { Tx } from "../transaction.ts";
import { bumpChatRevision, lockChat } from "./chat-revision.ts";
import { reopenRetried } from "./dead-letters.ts";
import { wakeDispatcher } from "./dispatch-room.ts";
import { appendEvents } from "./generation-events.ts";
import { deleteGenerationSummary } from "./generation-summaries.ts";
import { findGenerationContents } from "./generations.ts";
import { storeReply, type ReplyPlace } from "./messages-of-generations.ts";
import { finishAudit } from "./prompt-context-audits.ts";
import { releaseSuccessor } from "./waiting-turns.ts";

/** A run a worker holds. `fence` guards every write it makes from here on. */
export interface Claim {
  readonly tenantId: string;
  readonly generationId: string;
  readonly chatId: string;
  readonly fence: number;
  readonly attempt: number;
  readonly action: string;
  readonly providerId: string;
  readonly providerKind: string;
  readonly model: string;
  readonly strategy: string;
  readonly seed: string;
  readonly inputMessageId: string;
  readonly deadlineAt: Date;
  readonly request: GenerationRequest;
  /** The request of an earlier run, to be sent again as it was; `null` = the prompt is assembled. */
  readonly replay: ProviderRequest | null;
  /** How often a provider's "wait" gave it back to the line before. */
  readonly toldWaits: number;
  /** Number of the event that announced the claim; the run's own events go on from it. */
  readonly lastSeq: number;
}

/**
 * Takes a dispatched generation for this worker; null = there is nothing to run (cancelled, already claimed, an older
 * dispatch, past its deadline, chat deleted), which is normal: the queue delivers at least once. The commit waits for the
 * disk: a fence that a crash took back would be given out again.
 */
export async function claimGeneration(
  tx: Tx,
  job: { readonly tenantId: string; readonly generationId: string; readonly epoch: number },
  workerId: string,
): Promise<Claim | null> {
  const { rows } = await sql<Omit<Claim, "request" | "replay" | "tenantId" | "lastSeq">>`
    update generations set
      status = 'running', fence = fence + 1, attempts = attempts + 1, worker_id = ${workerId},
      started_at = coalesce(started_at, now()), first_token_at = null
    where tenant_id = ${job.tenantId} and id = ${job.generationId}
      and status = 'queued' and epoch = ${job.epoch}
      and cancel_requested_at is null and deadline_at > now() and chat_id is not null and blocked_by is null
    returning id as "generationId", chat_id as "chatId", fence, attempts as attempt, action,
      provider_id as "providerId", provider_kind as "providerKind", model, strategy, seed,
      input_message_id as "inputMessageId", deadline_at as "deadlineAt", told_waits as "toldWaits"
  `.execute(tx);
  const row = rows[0];
  if (!row) return null;
  const contents = await findGenerationContents(tx, job.tenantId, job.generationId);
  if (!contents) throw new Error(`generation ${job.generationId} has no stored request`);
  await sendAlong(
    tx,
    tx.insertInto("generation_attempts").values({
      tenant_id: job.tenantId,
      generation_id: row.generationId,
      attempt: row.attempt,
      fence: row.fence,
      worker_id: workerId,
    }),
  );
  const started: NewEvent = { type: "generation.started", data: { attempt: row.attempt, worker: workerId } };
  const lastSeq = await appendEvents(tx, { tenantId: job.tenantId, generationId: row.generationId, events: [started] });
  return { ...row, ...contents, tenantId: job.tenantId, lastSeq };
}

/** What is known once the prompt is assembled: a reader of a running generation sees it too. */
export async function recordContext(
  tx: Tx,
  run: HeldFence,
  known: { readonly context: GenerationContext; readonly stages: readonly StageReport[] },
): Promise<void> {
  await sendAlong(
    tx,
    tx
      .updateTable("generations")
      .set({ context: known.context, stages: [...known.stages] })
      .where("tenant_id", "=", run.tenantId)
      .where("id", "=", run.generationId)
      .where("status", "=", "running")
      .where("fence", "=", run.fence),
  );
}

/** When the model's first token came; written with the event that carries it. */
export async function recordFirstToken(tx: Tx, run: HeldFence, firstTokenAt: Date): Promise<void> {
  await sendAlong(
    tx,
    tx
      .updateTable("generations")
      .set({ first_token_at: firstTokenAt })
      .where("tenant_id", "=", run.tenantId)
      .where("id", "=", run.generationId)
      .where("status", "=", "running")
      .where("fence", "=", run.fence),
  );
}

/** Which state the row must be in for the ending to count; anything else means somebody else ended or took it. */
export type Expected =
  | { readonly status: "running"; readonly fence: number }
  | { readonly status: "queued"; readonly epoch: number };

export interface Ending {
  readonly tenantId: string;
  readonly generationId: string;
  readonly chatId: string | null;
  readonly expected: Expected;
  /** What the run came to; an accepted cancel overrides it. */
  readonly status: TerminalStatus;
  readonly error: Problem | null;
  readonly finishReason: string | null;
  readonly usage: Usage;
  /** What all requests of this attempt cost, as reported, failed ones included. Default: `usage`. */
  readonly spent?: Usage;
  readonly text: string;
  /** Complete calls only; a run that did not complete stores none. */
  readonly toolCalls: readonly ToolCall[];
  /** These three: null = what the run has recorded so far stays. */
  readonly firstTokenAt: Date | null;
  readonly context: GenerationContext | null;
  readonly stages: readonly StageReport[] | null;
  /** Where the history was cut; kept of a run that completes, for the chat's next turn. */
  readonly anchorMessageId: string | null;
  readonly auditPatch: AuditPatch;
  /** The last number the run's own events took. Default: that of the last one stored. */
  readonly afterSeq?: number | undefined;
}

export interface Usage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheReadTokens: number | null;
}

export const NO_USAGE: Usage = { inputTokens: null, outputTokens: null, cacheReadTokens: null };

/** The provider has said something of its cost; what it did not say is unknown, not 0. */
export function isReported(usage: Usage): boolean {
  return Object.values(usage).some((tokens) => tokens !== null);
}

export interface Ended {
  readonly status: TerminalStatus;
  readonly messageId: string | null;
}

/**
 * Ends a generation, whatever ended it: status, reply, usage, attempt, audit and terminal event in the caller's one
 * transaction. Null = the row is not in the expected state any more; nothing was written and nothing may be.
 * `prepareAuditFirst` writes the audit of a prompt that was refused before it could be prepared.
 */
export async function endGeneration(
  tx: Tx,
  ending: Ending,
  prepareAuditFirst: (() => Promise<void>) | null = null,
): Promise<Ended | null> {
  // Chat before generation, as everywhere: accepting and deleting lock in this order too.
  const chatId = ending.chatId && (await lockChat(tx, ending.tenantId, ending.chatId)) ? ending.chatId : null;
  const ended = await endRow(tx, ending);
  if (!ended) return null;
  const error = ended.status === "failed" ? ending.error : null;
  if (error) await markFailure(tx, ending, errorFingerprint(error, ended), error);
  if (ended.status === "cancelled") await reopenRetried(tx, ending.tenantId, ending.generationId);
  const messageId = chatId === null ? null : await storeReply(tx, { ...ending, ...ended, chatId });
  if (messageId !== null && chatId !== null) {
    await sendAlong(
      tx,
      tx
        .updateTable("generations")
        .set({ output_message_id: messageId })
        .where("tenant_id", "=", ending.tenantId)
        .where("id", "=", ending.generationId),
    );
    await bumpChatRevision(tx, ending.tenantId, chatId);
  }
  await endAttempt(tx, ending, ended.status);
  await deleteGenerationSummary(tx, ending.tenantId, ending.generationId);
  if (chatId !== null) await prepareAuditFirst?.();
  await finishAudit(tx, { ...ending, status: ended.status, errorCode: error?.code ?? null });
  await appendEvents(tx, {
    tenantId: ending.tenantId,
    generationId: ending.generationId,
    events: [terminalEvent(ended.status, messageId, error, ending)],
    afterSeq: ending.afterSeq,
  });
  if (chatId !== null) await releaseSuccessor(tx, { ...ending, chatId });
  await wakeDispatcher(tx, ending.tenantId);
  return { status: ended.status, messageId };
}

interface EndedRow extends FailurePlace, ReplyPlace {
  readonly status: TerminalStatus;
}

async function endRow(tx: Tx, ending: Ending): Promise<EndedRow | null> {
  const { expected, usage, error } = ending;
  const guard =
    expected.status === "running"
      ? sql`status = 'running' and fence = ${expected.fence}`
      : sql`status = 'queued' and epoch = ${expected.epoch}`;
  const { rows } = await sql<EndedRow>`
    update generations set
      status        = case when cancel_requested_at is null then ${ending.status} else 'cancelled' end,
      error         = case when cancel_requested_at is null then ${error}::jsonb end,
      error_code    = case when cancel_requested_at is null then ${error?.code ?? null} end,
      finish_reason = ${ending.finishReason},
      input_tokens  = ${usage.inputTokens}, output_tokens = ${usage.outputTokens}, cache_read_tokens = ${usage.cacheReadTokens},
      first_token_at = coalesce(${ending.firstTokenAt}::timestamptz, first_token_at),
      anchor_message_id = case when cancel_requested_at is null and ${ending.status} = 'completed' then ${ending.anchorMessageId}::uuid end,
      context       = coalesce(${ending.context}::jsonb, context),
      stages        = coalesce(${ending.stages}::jsonb, stages),
      finished_at   = now()
    where tenant_id = ${ending.tenantId} and id = ${ending.generationId} and ${guard}
    returning status, action, branch, input_message_id as "inputMessageId", target_message_id as "targetMessageId",
      provider_kind as "providerKind", model
  `.execute(tx);
  return rows[0] ?? null;
}

/** Groups it with failures alike; what an operator can act on, unlike a client's own mistake, waits as a dead letter. */
async function markFailure(tx: Tx, ending: Ending, fingerprint: string, { origin }: Problem): Promise<void> {
  await sendAlong(
    tx,
    tx
      .updateTable("generations")
      .set({ error_fingerprint: fingerprint, dead_letter: origin === "client" ? null : "open" })
      .where("tenant_id", "=", ending.tenantId)
      .where("id", "=", ending.generationId),
  );
}

async function endAttempt(tx: Tx, ending: Ending, status: TerminalStatus): Promise<void> {
  if (ending.expected.status !== "running") return;
  await sendAlong(
    tx,
    tx
      .updateTable("generation_attempts")
      .set({
        ended_at: sql<Date>`now()`,
        outcome: status,
        error_code: status === "failed" ? (ending.error?.code ?? null) : null,
        ...usageColumns(ending.spent ?? ending.usage),
      })
      .where("tenant_id", "=", ending.tenantId)
      .where("generation_id", "=", ending.generationId)
      .where("fence", "=", ending.expected.fence),
  );
}

export function usageColumns({ inputTokens, outputTokens, cacheReadTokens }: Usage) {
  return { input_tokens: inputTokens, output_tokens: outputTokens, cache_read_tokens: cacheReadTokens };
}

function terminalEvent(
  status: TerminalStatus,
  messageId: string | null,
  error: Problem | null,
  ending: Ending,
): NewEvent {
  const { inputTokens, outputTokens } = ending.usage;
  const data = { status, messageId, finishReason: ending.finishReason, usage: { inputTokens, outputTokens }, error };
  return { type: `generation.${status}`, data };
}

/** A run and the fence that guards it. */
export interface HeldFence {
  readonly tenantId: string;
  readonly generationId: string;
  readonly fence: number;
}
