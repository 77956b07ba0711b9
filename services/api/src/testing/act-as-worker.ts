import { CreateContextPreview, decodeId, encodeId, type NewEvent, type TerminalStatus } from "@shiftwork/contracts";
import {
  appendEvents,
  claimGeneration,
  endGeneration,
  NO_USAGE,
  prepareAudit,
  withTenant,
  type Claim,
} from "@shiftwork/db";
import { toAuditDocument, type Diagnostic, type ProviderRequest } from "@shiftwork/pipeline";
import { createTokenizers, loadPlugins } from "@shiftwork/platform";
import { createUseLite, createVectorCache } from "@shiftwork/providers";
import { deflateSync } from "node:zlib";
import { uuidv7 } from "uuidv7";
import { previewTurn } from "../preview/preview-turn.ts";
import type { ApiUnderTest, TestTenant } from "./api-under-test.ts";

/** Claims a queued generation as a worker does; `publicId` is its id in the API. */
export async function claimRun(api: ApiUnderTest, tenant: TestTenant, publicId: string): Promise<Claim> {
  const job = { tenantId: tenant.id, generationId: decodeId("generation", publicId) ?? "", epoch: 0 };
  const claim = await withTenant(api.worker.db, tenant.id, (tx) => claimGeneration(tx, job, uuidv7()));
  if (!claim) throw new Error(`${publicId} cannot be claimed`);
  return claim;
}

export async function emit(api: ApiUnderTest, claim: Claim, events: readonly NewEvent[]): Promise<void> {
  const { tenantId, generationId } = claim;
  await withTenant(api.worker.db, tenantId, (tx) => appendEvents(tx, { tenantId, generationId, events }));
}

/** `afterSeq` = the last number its events took, where they do not stand in the database. */
export async function endRun(
  api: ApiUnderTest,
  claim: Claim,
  status: TerminalStatus,
  text: string,
  afterSeq?: number,
): Promise<void> {
  const { tenantId, generationId, chatId, fence } = claim;
  const error = {
    code: "PROVIDER_TIMEOUT",
    title: "t",
    detail: "d",
    retryable: true,
    origin: "provider",
    params: {},
  } as const;
  await withTenant(api.worker.db, tenantId, (tx) =>
    endGeneration(tx, {
      tenantId,
      generationId,
      chatId,
      expected: { status: "running", fence },
      status,
      error: status === "failed" ? error : null,
      finishReason: status === "completed" ? "stop" : null,
      usage: NO_USAGE,
      text,
      toolCalls: [],
      firstTokenAt: null,
      context: null,
      stages: null,
      anchorMessageId: null,
      auditPatch: {},
      afterSeq,
    }),
  );
}

/** Assembles a run's prompt and stores its audit, as its worker does before the request leaves; returns the request. */
export async function prepareRun(
  api: ApiUnderTest,
  run: Claim,
  diagnostics: readonly Diagnostic[] = [],
  refusedRequests: readonly ProviderRequest[] = [],
): Promise<ProviderRequest | null> {
  const caller = { tenantId: run.tenantId, everyTenant: false, apiKeyId: "", scopes: [], ownerId: null };
  const body = CreateContextPreview.parse({ chatId: encodeId("chat", run.chatId), contextStrategy: run.strategy });
  const vectors = { useLite: createUseLite(), cache: createVectorCache() };
  const [plugins, tokenizers] = [await loadPlugins([]), createTokenizers()];
  const host = { db: api.database.db, plugins, tokenizers, masterKey: null, vectors, caller };
  const previewed = await previewTurn(host, body, new AbortController().signal);
  const report = { ...previewed.report, diagnostics: [...previewed.report.diagnostics, ...diagnostics] };
  await withTenant(api.worker.db, run.tenantId, (tx) =>
    prepareAudit(tx, {
      ...run,
      ...report.counts,
      tokenizerProfile: report.tokenizer.profile,
      approximate: report.tokenizer.approximate,
      contextLimit: report.budget.contextLimit,
      reservedForReply: report.budget.reservedForReply,
      promptTokens: report.budget.promptTokens,
      assemblyHash: report.assemblyHash,
      prefixHash: report.prefixHash,
      document: deflateSync(JSON.stringify({ ...toAuditDocument(report), refusedRequests })),
      reasons: [],
    }),
  );
  return report.request;
}
