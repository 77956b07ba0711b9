import type { AssemblyReport, AuditBlock, ChatRequest, ChatRequestMessage, ShiftStep } from "../prompt.ts";
import type { Diagnostic } from "../reasons.ts";
import { sentParts } from "./audit-blocks.ts";

/** Steps and diagnostics stored at most; `omitted` says how many more there were. */
export const MOST_STORED_STEPS = 500;
const MOST_STORED_DIAGNOSTICS = 200;

/** A row at rest: an included block's text stands once, in the request's message `messageIndex`. */
export interface StoredAuditBlock extends AuditBlock {
  /** `null` when the row carries its own text. */
  readonly messageIndex: number | null;
}

/** How much of an assembly did not go into its audit. */
export interface AuditOmissions {
  readonly blocks: number;
  readonly diagnostics: number;
  readonly shiftSteps: number;
}

type AssemblyFacts = Pick<
  AssemblyReport,
  "strategy" | "tokenizer" | "budget" | "ranges" | "counts" | "shiftSteps" | "stages" | "diagnostics" | "error"
> &
  Pick<AssemblyReport, "assemblyHash" | "prefixHash">;

/** The audit as it is stored: JSON, written once before the provider is called. */
export interface AuditDocument extends AssemblyFacts {
  readonly version: 1;
  readonly blocks: readonly StoredAuditBlock[];
  /** The body as it is sent, without credentials; `null` when no request could be made. */
  readonly providerRequest: ChatRequest | null;
  readonly omitted: AuditOmissions;
}

/** The audit as it is read: every row with its text, and the request's messages for display. */
export interface AuditContent extends AssemblyFacts {
  readonly blocks: readonly AuditBlock[];
  readonly providerRequest: ChatRequest | null;
  readonly providerMessages: readonly ChatRequestMessage[];
  readonly omitted: AuditOmissions;
}

/** A report → the document to store. Text that stands in the request is not repeated. */
export function toAuditDocument(report: AssemblyReport): AuditDocument {
  const { request, blocks, shiftSteps, diagnostics, summary: _s, anchorId: _a, exact: _e, ...facts } = report;
  const keptSteps: readonly ShiftStep[] = shiftSteps.slice(-MOST_STORED_STEPS);
  const keptDiagnostics: readonly Diagnostic[] = diagnostics.slice(0, MOST_STORED_DIAGNOSTICS);
  return {
    version: 1,
    ...facts,
    blocks: blocks.map((block) => toStored(block, request)),
    shiftSteps: keptSteps,
    diagnostics: keptDiagnostics,
    providerRequest: request,
    omitted: {
      blocks: 0,
      diagnostics: diagnostics.length - keptDiagnostics.length,
      shiftSteps: shiftSteps.length - keptSteps.length,
    },
  };
}

function toStored(block: AuditBlock, request: ChatRequest | null): StoredAuditBlock {
  if (request === null || block.order === null) return { ...block, messageIndex: null };
  const { content: _text, toolCalls: _calls, toolCallId: _link, ...row } = block;
  return { ...row, messageIndex: block.order };
}

/** A stored document → the audit's content, each row with its text again. */
export function readAuditDocument(document: AuditDocument): AuditContent {
  const { version: _version, blocks, providerRequest, ...facts } = document;
  const providerMessages = providerRequest?.messages ?? [];
  return {
    ...facts,
    blocks: blocks.map((block) => fromStored(block, providerMessages)),
    providerRequest,
    providerMessages,
  };
}

function fromStored(stored: StoredAuditBlock, messages: readonly ChatRequestMessage[]): AuditBlock {
  const { messageIndex, ...block } = stored;
  const message = messageIndex === null ? undefined : messages[messageIndex];
  return message === undefined ? block : { ...block, ...sentParts(message) };
}
