import { deflateSync } from "node:zlib";
import type { Claim, GenerationContext, PreparedAudit, ReasonCount } from "@shiftwork/db";
import { toAuditDocument, type AssemblyReport } from "@shiftwork/pipeline";

/** The audit row of an assembly: small columns for lists, the whole document once, deflated. */
export function auditOf(claim: Claim, report: AssemblyReport): PreparedAudit {
  return {
    tenantId: claim.tenantId,
    chatId: claim.chatId,
    generationId: claim.generationId,
    attempt: claim.attempt,
    providerId: claim.providerId,
    providerKind: claim.providerKind,
    model: claim.model,
    strategy: report.strategy,
    tokenizerProfile: report.tokenizer.profile,
    approximate: report.tokenizer.approximate,
    contextLimit: report.budget.contextLimit,
    reservedForReply: report.budget.reservedForReply,
    promptTokens: report.budget.promptTokens,
    ...report.counts,
    assemblyHash: report.assemblyHash,
    prefixHash: report.prefixHash,
    document: deflateSync(JSON.stringify(toAuditDocument(report))),
    reasons: countReasons(report),
  };
}

function countReasons(report: AssemblyReport): readonly ReasonCount[] {
  const counts = new Map<string, ReasonCount>();
  const add = (source: string, reason: string, included: boolean, count: number): void => {
    const key = `${source} ${reason} ${included}`;
    counts.set(key, { source, reason, included, count: (counts.get(key)?.count ?? 0) + count });
  };
  for (const block of report.blocks) add(block.source, block.reason, block.included, 1);
  for (const range of report.ranges) add("history", range.reason, false, range.count);
  return [...counts.values()];
}

/** The numbers the generation row keeps when the audit is gone. */
export function contextOf(report: AssemblyReport): GenerationContext {
  return {
    contextLimit: report.budget.contextLimit,
    reservedForReply: report.budget.reservedForReply,
    promptTokens: report.budget.promptTokens,
    tokenizer: report.tokenizer,
    counts: report.counts,
    assemblyHash: report.assemblyHash,
  };
}

/** What a live reader is told about the context: numbers and reasons, no text. */
export function preparedEvent(report: AssemblyReport) {
  const excluded = countReasons(report)
    .filter((count) => !count.included)
    .sort((a, b) => b.count - a.count)
    .slice(0, 5);
  return {
    type: "context.prepared" as const,
    data: {
      strategy: report.strategy,
      tokenizer: report.tokenizer,
      contextLimit: report.budget.contextLimit,
      reservedForReply: report.budget.reservedForReply,
      promptTokens: report.budget.promptTokens ?? 0,
      included: report.counts.included,
      excluded: report.counts.excluded,
      topExclusions: excluded.map(({ reason, count }) => ({ reason, count })),
    },
  };
}
