import { deflateSync } from "node:zlib";
import type { Claim, GenerationContext, PreparedAudit, ReasonCount } from "@shiftwork/db";
import type { AuditDocument } from "@shiftwork/pipeline";

/** The audit row of a prompt: small columns for lists, the whole document once, deflated. */
export function auditOf(claim: Claim, document: AuditDocument): PreparedAudit {
  return {
    tenantId: claim.tenantId,
    chatId: claim.chatId,
    generationId: claim.generationId,
    attempt: claim.attempt,
    providerId: claim.providerId,
    providerKind: claim.providerKind,
    model: claim.model,
    strategy: document.strategy,
    tokenizerProfile: document.tokenizer.profile,
    approximate: document.tokenizer.approximate,
    contextLimit: document.budget.contextLimit,
    reservedForReply: document.budget.reservedForReply,
    promptTokens: document.budget.promptTokens,
    ...document.counts,
    assemblyHash: document.assemblyHash,
    prefixHash: document.prefixHash,
    document: deflateSync(JSON.stringify(document)),
    reasons: countReasons(document),
  };
}

function countReasons(document: AuditDocument): readonly ReasonCount[] {
  const counts = new Map<string, ReasonCount>();
  const add = (source: string, reason: string, included: boolean, count: number): void => {
    const key = `${source} ${reason} ${included}`;
    counts.set(key, { source, reason, included, count: (counts.get(key)?.count ?? 0) + count });
  };
  for (const block of document.blocks) add(block.source, block.reason, block.included, 1);
  for (const range of document.ranges) add("history", range.reason, false, range.count);
  return [...counts.values()];
}

/** The numbers the generation row keeps when the audit is gone. */
export function contextOf(document: AuditDocument): GenerationContext {
  return {
    contextLimit: document.budget.contextLimit,
    reservedForReply: document.budget.reservedForReply,
    promptTokens: document.budget.promptTokens,
    tokenizer: document.tokenizer,
    counts: document.counts,
    assemblyHash: document.assemblyHash,
  };
}

/** What a live reader is told about the context: numbers and reasons, no text. */
export function preparedEvent(document: AuditDocument) {
  const excluded = countReasons(document)
    .filter((count) => !count.included)
    .sort((a, b) => b.count - a.count)
    .slice(0, 5);
  return {
    type: "context.prepared" as const,
    data: {
      strategy: document.strategy,
      tokenizer: document.tokenizer,
      contextLimit: document.budget.contextLimit,
      reservedForReply: document.budget.reservedForReply,
      promptTokens: document.budget.promptTokens ?? 0,
      included: document.counts.included,
      excluded: document.counts.excluded,
      topExclusions: excluded.map(({ reason, count }) => ({ reason, count })),
    },
  };
}
