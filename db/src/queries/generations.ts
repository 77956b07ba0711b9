import type { GenerationStatus, NewEvent, Problem } from "@shiftwork/contracts";
import type { ProviderRequest, StageReport } from "@shiftwork/pipeline";
import { sql } from "kysely";
import type { GenerationContext, GenerationRequest, PendingMessage } from "../tables.ts";
import { sendAlong } from "../round-trips.ts";
import type { Tx } from "../transaction.ts";
import { appendEvents } from "./generation-events.ts";

/** Channel that wakes the dispatcher; the payload is the tenant whose line changed, empty = it may be any, or limits. */
export const DISPATCH_CHANNEL = "shiftwork_dispatch";
/** Channel that tells workers to abort; the payload is the generation's id. */
export const CANCEL_CHANNEL = "shiftwork_cancel";

export interface NewGeneration {
  readonly id: string;
  readonly chatId: string;
  readonly ownerId: string | null;
  readonly action: string;
  readonly providerId: string;
  readonly providerKind: string;
  readonly model: string;
  readonly strategy: string;
  readonly seed: string;
  /** Null while the message it answers is pending. */
  readonly inputMessageId: string | null;
  /** The branch its reply goes on; null = that of the message it answers. Default null. */
  readonly branch?: number | null;
  /** The reply that the new one stands beside. Default: none. */
  readonly targetMessageId?: string | null;
  readonly retryOf: string | null;
  readonly deadlineAt: Date;
  /** 1 = first, 9 = last, among those of one tenant. Default 5. */
  readonly priority?: number;
  /** The chat's newest active generation: this one waits until that has ended. Default: it waits for none. */
  readonly blockedBy?: string | null;
  /** The user's message of a turn that waits; it enters the chat when the turn's time comes. */
  readonly pendingMessage?: PendingMessage | null;
  /** A request to be sent as it is, without any stage. */
  readonly replay?: ProviderRequest | null;
  /** True = the caller's transaction ends with `dispatchAtOnce`. Default false: the commit wakes the dispatcher. */
  readonly handsOver?: boolean;
  readonly metadata: { readonly [key: string]: unknown };
  readonly requestId: string | null;
  readonly request: GenerationRequest;
}

/** A generation as stored. `chatId` and `metadata` are null once the chat is deleted. */
export interface GenerationRow {
  readonly id: string;
  readonly chatId: string | null;
  readonly ownerId: string | null;
  readonly status: GenerationStatus;
  readonly action: string;
  readonly providerId: string;
  readonly providerKind: string;
  readonly model: string;
  readonly strategy: string;
  readonly seed: string;
  readonly epoch: number;
  readonly attempts: number;
  readonly maxAttempts: number;
  readonly inputMessageId: string | null;
  readonly targetMessageId: string | null;
  readonly outputMessageId: string | null;
  readonly retryOf: string | null;
  /** A told wait: not started before. In the past once it was. */
  readonly notBefore: Date | null;
  readonly priority: number;
  /** What it waited for, kept when it ended while it waited. */
  readonly blockedBy: string | null;
  readonly createdAt: Date;
  readonly dispatchedAt: Date | null;
  readonly startedAt: Date | null;
  readonly firstTokenAt: Date | null;
  readonly finishedAt: Date | null;
  readonly deadlineAt: Date;
  readonly cancelRequestedAt: Date | null;
  readonly error: Problem | null;
  readonly errorCode: string | null;
  readonly finishReason: string | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly context: GenerationContext | null;
  readonly stages: readonly StageReport[] | null;
  readonly metadata: object | null;
  readonly requestId: string | null;
}

/** The chat's generation that is running or next to run, if any. Decide under the chat row's lock. */
export async function findActiveGeneration(tx: Tx, tenantId: string, chatId: string): Promise<GenerationInLine | null> {
  const row = await selectInLine(tx, tenantId, chatId).where("blocked_by", "is", null).executeTakeFirst();
  return row ?? null;
}

/** What answered or was to answer the same message later, whatever came of it. */
export async function findNewerTries(tx: Tx, tenantId: string, id: string): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select newer.id from generations as this
    join generations as newer on newer.tenant_id = this.tenant_id and newer.chat_id = this.chat_id
      and newer.id > this.id and newer.input_message_id = this.input_message_id
    where this.tenant_id = ${tenantId} and this.id = ${id}
  `.execute(tx);
  return rows.map((row) => row.id);
}

/** One that answers this message, running or waiting for whichever turn. Decide under the chat row's lock. */
export async function findActiveAnswering(
  tx: Tx,
  tenantId: string,
  message: { readonly id: string; readonly chatId: string },
): Promise<GenerationInLine | null> {
  const row = await selectInLine(tx, tenantId, message.chatId)
    .where("input_message_id", "=", message.id)
    .executeTakeFirst();
  return row ?? null;
}

/** A generation of a chat's line. */
export type GenerationInLine = Pick<GenerationRow, "id" | "status">;

function selectInLine(tx: Tx, tenantId: string, chatId: string) {
  return tx
    .selectFrom("generations")
    .select(["id", "status"])
    .where("tenant_id", "=", tenantId)
    .where("chat_id", "=", chatId)
    .where("status", "in", ["queued", "running"]);
}

/** As `findActiveGeneration`, with those that wait for it, each behind the one it waits for. */
export async function findActiveChain(tx: Tx, tenantId: string, chatId: string): Promise<readonly GenerationInLine[]> {
  const { rows } = await sql<GenerationInLine>`
    with recursive chain as (
      select id, status, 1 as place from generations
      where tenant_id = ${tenantId} and chat_id = ${chatId} and status in ('queued', 'running') and blocked_by is null
      union all
      select next.id, next.status, chain.place + 1 from chain
      join generations as next on next.tenant_id = ${tenantId} and next.blocked_by = chain.id and next.status = 'queued'
    )
    select id, status from chain order by place
  `.execute(tx);
  return rows;
}

/** Those that wait for another one of their chat count too. */
export async function countQueued(tx: Tx, tenantId: string): Promise<number> {
  const row = await tx
    .selectFrom("generations")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("tenant_id", "=", tenantId)
    .where("status", "=", "queued")
    .executeTakeFirstOrThrow();
  return row.count;
}

/** The accepted generation: row (= the outbox), content, labels and its first event. The commit wakes the dispatcher. */
export async function insertGeneration(tx: Tx, tenantId: string, generation: NewGeneration): Promise<void> {
  await sendAlong(
    tx,
    tx.insertInto("generations").values({
      tenant_id: tenantId,
      id: generation.id,
      chat_id: generation.chatId,
      owner_id: generation.ownerId,
      action: generation.action,
      provider_id: generation.providerId,
      provider_kind: generation.providerKind,
      model: generation.model,
      strategy: generation.strategy,
      seed: generation.seed,
      input_message_id: generation.inputMessageId,
      branch: generation.branch ?? null,
      target_message_id: generation.targetMessageId ?? null,
      retry_of: generation.retryOf,
      deadline_at: generation.deadlineAt,
      ...(generation.priority === undefined ? {} : { priority: generation.priority }),
      blocked_by: generation.blockedBy ?? null,
      metadata: generation.metadata,
      request_id: generation.requestId,
    }),
  );
  await sendAlong(
    tx,
    tx.insertInto("generation_contents").values({
      tenant_id: tenantId,
      generation_id: generation.id,
      chat_id: generation.chatId,
      request: generation.request,
      pending_message: generation.pendingMessage ?? null,
      replay: generation.replay ?? null,
    }),
  );
  const labels = labelsOf(generation.metadata);
  if (labels.length > 0) {
    await sendAlong(
      tx,
      tx
        .insertInto("generation_labels")
        .values(labels.map((label) => ({ tenant_id: tenantId, generation_id: generation.id, ...label }))),
    );
  }
  const queued: NewEvent = { type: "generation.queued", data: { position: null } };
  await appendEvents(tx, { tenantId, generationId: generation.id, events: [queued], first: true });
  if (!generation.handsOver && !generation.blockedBy) {
    await sendAlong(tx, sql`select pg_notify(${DISPATCH_CHANNEL}, ${tenantId})`);
  }
}

/** Longest value one can filter by, in UTF-16 code units: a b-tree entry holds some 2,700 bytes. */
const LONGEST_LABEL = 500;

/** Only short scalar metadata can be filtered by; the whole object stays on the row. */
function labelsOf(metadata: { readonly [key: string]: unknown }): { key: string; value: string }[] {
  return Object.entries(metadata).flatMap(([key, value]) => {
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return [];
    const label = { key, value: String(value) };
    return label.value.length > LONGEST_LABEL ? [] : [label];
  });
}

export async function findGeneration(tx: Tx, tenantId: string, id: string): Promise<GenerationRow | null> {
  return (await selectGenerations(tx, tenantId).where("id", "=", id).executeTakeFirst()) ?? null;
}

export interface GenerationContents {
  readonly request: GenerationRequest;
  /** Set = this is sent as it is, without any stage. */
  readonly replay: ProviderRequest | null;
}

/** What was asked for; null once the chat is deleted. */
export async function findGenerationContents(tx: Tx, tenantId: string, id: string): Promise<GenerationContents | null> {
  const row = await tx
    .selectFrom("generation_contents")
    .select(["request", "replay"])
    .where("tenant_id", "=", tenantId)
    .where("generation_id", "=", id)
    .executeTakeFirst();
  return row ?? null;
}

export const GENERATION_COLUMNS = [
  "id",
  "chat_id as chatId",
  "owner_id as ownerId",
  "status",
  "action",
  "provider_id as providerId",
  "provider_kind as providerKind",
  "model",
  "strategy",
  "seed",
  "epoch",
  "attempts",
  "max_attempts as maxAttempts",
  "input_message_id as inputMessageId",
  "target_message_id as targetMessageId",
  "output_message_id as outputMessageId",
  "retry_of as retryOf",
  "not_before as notBefore",
  "priority",
  "blocked_by as blockedBy",
  "created_at as createdAt",
  "dispatched_at as dispatchedAt",
  "started_at as startedAt",
  "first_token_at as firstTokenAt",
  "finished_at as finishedAt",
  "deadline_at as deadlineAt",
  "cancel_requested_at as cancelRequestedAt",
  "error",
  "error_code as errorCode",
  "finish_reason as finishReason",
  "input_tokens as inputTokens",
  "output_tokens as outputTokens",
  "cache_read_tokens as cacheReadTokens",
  "context",
  "stages",
  "metadata",
  "request_id as requestId",
] as const;

function selectGenerations(tx: Tx, tenantId: string) {
  return tx.selectFrom("generations").select(GENERATION_COLUMNS).where("tenant_id", "=", tenantId);
}
