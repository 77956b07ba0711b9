import { encodeId, type GenerationObject, type IdKind } from "@shiftwork/contracts";
import {
  findAuditedEverywhere,
  findAuditedGenerations,
  readQueuePosition,
  type Db,
  type GenerationRow,
  type TenantGenerationRow,
  type Tx,
} from "@shiftwork/db";
import { driftRatio } from "@shiftwork/pipeline";
import type { Caller } from "../auth/caller.ts";
import { publicProblem } from "../context/public-refs.ts";
import { visibleGeneration } from "../routes/visible.ts";

/** The generation as clients see it. */
export async function readGenerationObject(tx: Tx, caller: Caller, id: string): Promise<GenerationObject> {
  const row = await visibleGeneration(tx, caller, id);
  const [object] = await generationObjects(tx, caller.tenantId, [row]);
  return object ?? generationObject(row, false);
}

/** As `readGenerationObject`, with its place in the tenant's line, which has to be counted. */
export async function readGenerationInLine(tx: Tx, caller: Caller, id: string): Promise<GenerationObject> {
  const object = await readGenerationObject(tx, caller, id);
  if (object.status !== "queued") return object;
  return { ...object, queue: { ...object.queue, position: await readQueuePosition(tx, caller.tenantId, id) } };
}

/** As `readGenerationObject`, for rows that were read already. */
export async function generationObjects(
  tx: Tx,
  tenantId: string,
  rows: readonly GenerationRow[],
): Promise<GenerationObject[]> {
  const ids = rows.map((row) => row.id);
  const audited = await findAuditedGenerations(tx, tenantId, ids);
  return rows.map((row) => generationObject(row, audited.has(row.id)));
}

/** As `generationObjects`, for rows of several tenants; as admin. */
export async function generationObjectsEverywhere(
  admin: Db,
  rows: readonly TenantGenerationRow[],
): Promise<GenerationObject[]> {
  const audited = await findAuditedEverywhere(admin, rows);
  return rows.map((row) => generationObject(row, audited.has(row.id)));
}

function generationObject(row: GenerationRow, auditAvailable: boolean): GenerationObject {
  const messageId = idOrNull("message", row.outputMessageId);
  const { finishReason, model } = row;
  const status = statusOf(row);
  const usage = {
    inputTokens: row.inputTokens,
    outputTokens: row.outputTokens,
    cacheReadTokens: row.cacheReadTokens,
  };
  const error = row.error === null ? null : publicProblem(row.error);
  const providerId = encodeId("provider", row.providerId);
  return {
    id: encodeId("generation", row.id),
    object: "generation",
    chatId: idOrNull("chat", row.chatId),
    status,
    action: row.action as GenerationObject["action"],
    model,
    provider: { id: providerId, kind: row.providerKind },
    seed: row.seed,
    createdAt: row.createdAt.toISOString(),
    startedAt: row.startedAt?.toISOString() ?? null,
    firstTokenAt: row.firstTokenAt?.toISOString() ?? null,
    finishedAt: row.finishedAt?.toISOString() ?? null,
    deadlineAt: row.deadlineAt.toISOString(),
    queue: queueOf(row),
    timings: timingsOf(row),
    context: contextOf(row, auditAvailable),
    usage,
    finishReason,
    inputMessageId: idOrNull("message", row.inputMessageId),
    targetMessageId: idOrNull("message", row.targetMessageId),
    messageId,
    targets: [{ index: 0, providerId, model, status, messageId, usage, finishReason, error }],
    error,
    retryOf: idOrNull("generation", row.retryOf),
    metadata: row.metadata as GenerationObject["metadata"],
    requestId: row.requestId,
  };
}

function idOrNull(kind: IdKind, id: string | null): string | null {
  return id === null ? null : encodeId(kind, id);
}

/** `cancelling` is derived: the worker has been told and has not ended the run yet. */
function statusOf({ status, cancelRequestedAt }: GenerationRow): GenerationObject["status"] {
  return status === "running" && cancelRequestedAt !== null ? "cancelling" : status;
}

function queueOf(row: GenerationRow): GenerationObject["queue"] {
  const leftAt = row.startedAt ?? row.finishedAt ?? new Date();
  return {
    name: "default",
    position: null,
    waitMs: Math.max(0, leftAt.getTime() - row.createdAt.getTime()),
    attempt: row.attempts,
    maxAttempts: row.maxAttempts,
    nextAttemptAt: row.status === "queued" ? (row.notBefore?.toISOString() ?? null) : null,
    priority: row.priority,
    blockedBy: row.status === "queued" ? idOrNull("generation", row.blockedBy) : null,
  };
}

function timingsOf(row: GenerationRow): GenerationObject["timings"] {
  const stages = [...(row.stages ?? [])];
  return {
    queueMs: between(row.createdAt, row.startedAt),
    pipelineMs: row.stages === null ? null : stages.reduce((sum, stage) => sum + stage.ms, 0),
    stages,
    ttftMs: between(row.startedAt, row.firstTokenAt),
    generateMs: between(row.firstTokenAt, row.finishedAt),
  };
}

function between(from: Date | null, to: Date | null): number | null {
  return from === null || to === null ? null : Math.max(0, to.getTime() - from.getTime());
}

function contextOf(row: GenerationRow, auditAvailable: boolean): GenerationObject["context"] {
  const { context, strategy } = row;
  if (context === null) return null;
  const { contextLimit, reservedForReply, promptTokens, tokenizer, counts, assemblyHash } = context;
  return {
    strategy,
    contextLimit,
    reservedForReply,
    promptTokens,
    tokenizer,
    driftRatio: driftRatio(promptTokens, row),
    included: counts.included,
    excluded: counts.excluded,
    summarised: counts.summarised,
    truncated: counts.truncated,
    assemblyHash,
    auditAvailable,
  };
}
