import { encodeId, type AuditBlockObject, type PromptContextAudit } from "@shiftwork/contracts";
import type { AuditRow } from "@shiftwork/db";
import {
  driftRatio,
  fillMissingCounts,
  promptContextAudit,
  readAuditDocument,
  type AuditContent,
  type AuditDocument,
  type Profile,
  type TokenizerFacts,
} from "@shiftwork/pipeline";
import { promisify } from "node:util";
import { inflate } from "node:zlib";
import { publicBlock, publicDetail, publicStep } from "./public-refs.ts";

const inflateAsync = promisify(inflate);

/** What a stored audit says, texts included. */
export async function auditContent(row: Pick<AuditRow, "document">): Promise<AuditContent> {
  const stored = (await inflateAsync(row.document)).toString("utf8");
  return readAuditDocument(JSON.parse(stored) as AuditDocument);
}

/**
 * A stored audit as clients see it; without `showContent` every text is left out. `findProfile` finds what counted it
 * again, for what was left out uncounted.
 */
export async function auditObject(
  row: AuditRow,
  showContent: boolean,
  findProfile: (tokenizer: TokenizerFacts) => Promise<Profile | null>,
): Promise<PromptContextAudit> {
  const audit = promptContextAudit(factsOf(row), await auditContent(row));
  const isCounted = audit.blocks.every(({ tokens }) => tokens !== null);
  const profile = isCounted ? null : await findProfile(audit.tokenizer);
  const blocks = fillMissingCounts(audit.blocks, profile, audit.wire).map(publicBlock) as AuditBlockObject[];
  const complete: PromptContextAudit = {
    ...audit,
    object: "prompt_context_audit",
    providerId: encodeId("provider", row.providerId),
    error: audit.error === null ? null : { ...publicDetail({ ...audit.error, largest: largestOf(audit.error) }) },
    blocks,
    ranges: [...audit.ranges],
    shiftSteps: audit.shiftSteps.map(publicStep) as PromptContextAudit["shiftSteps"],
    stages: [...audit.stages],
    diagnostics: audit.diagnostics.map((entry) => ({ ...entry, detail: publicDetail(entry.detail) })),
    providerMessages: audit.providerMessages.map((message) => ({ ...message })),
    refusedRequests: audit.refusedRequests.map((request) => ({ ...request })),
    targets: audit.targets.map((target) => ({ ...target })),
    contentRestricted: false,
  };
  return showContent ? complete : withoutContent(complete);
}

function factsOf(row: AuditRow): Parameters<typeof promptContextAudit>[0] {
  const { usage } = row.patch;
  return {
    generationId: encodeId("generation", row.generationId),
    chatId: encodeId("chat", row.chatId),
    attempt: row.attempt,
    status: row.status,
    errorCode: row.errorCode,
    createdAt: row.createdAt.toISOString(),
    finishedAt: row.finishedAt?.toISOString() ?? null,
    provider: row.providerKind,
    model: row.model,
    usage: {
      estimated: { inputTokens: row.promptTokens },
      reported: usage ?? null,
      driftRatio: usage ? driftRatio(row.promptTokens, usage) : null,
    },
  };
}

function largestOf({ largest }: NonNullable<AuditDocument["error"]>) {
  return largest.map(({ blockId, source, label, tokens }) => ({ blockId, source, label, tokens }));
}

function withoutContent(audit: PromptContextAudit): PromptContextAudit {
  return {
    ...audit,
    blocks: audit.blocks.map(withoutText),
    error: audit.error === null ? null : withoutLabels(audit.error),
    diagnostics: audit.diagnostics.map(withoutStopStrings),
    providerRequest: null,
    providerMessages: [],
    refusedRequests: [],
    targets: audit.targets.map((target) => ({ ...target, providerRequest: null })),
    contentRestricted: true,
  };
}

/** The row without its text; a label repeats text or a name, so only the source remains of it. */
export function withoutText(row: AuditBlockObject): AuditBlockObject {
  const { content: _content, toolCalls: _calls, ...rest } = row;
  return { ...rest, label: row.source, name: null };
}

/** The entry without the stop strings it names: they are the caller's text, or names. */
export function withoutStopStrings(entry: PromptContextAudit["diagnostics"][number]) {
  const { texts: _texts, ...detail } = entry.detail;
  return { ...entry, detail };
}

function withoutLabels(error: NonNullable<PromptContextAudit["error"]>): NonNullable<PromptContextAudit["error"]> {
  const largest = Array.isArray(error["largest"]) ? (error["largest"] as readonly { label?: string }[]) : [];
  return { ...error, largest: largest.map(({ label: _label, ...entry }) => entry) };
}
