import type { AssemblyReport, AuditBlock, ProviderMessage, ProviderRequest, ShiftStep, WireFacts } from "../prompt.ts";
import type { Diagnostic } from "../reasons.ts";
import { isChatRequest, providerMessages } from "../wire/chat-request.ts";
import { PLAIN_CHAT } from "../wire/wires.ts";
import { sentParts, textAt } from "./sent-parts.ts";

/** Steps and diagnostics stored at most; `omitted` says how many more there were. */
export const MOST_STORED_STEPS = 500;
const MOST_STORED_DIAGNOSTICS = 200;

/** A row at rest: an included block's text stands once, in the request: in message `messageIndex`, or at `sentAt`. */
export interface StoredAuditBlock extends AuditBlock {
  /** `null` when the row carries its own text or `sentAt` says where it is. */
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
  /** Absent in documents from before there was a choice: chat completions as they are. */
  readonly wire?: WireFacts;
  readonly blocks: readonly StoredAuditBlock[];
  /** The body as it is sent, without credentials; `null` when no request could be made. */
  readonly providerRequest: ProviderRequest | null;
  /** Requests of the same attempt that the provider refused as too long, oldest first; absent = none. */
  readonly refusedRequests?: readonly ProviderRequest[];
  readonly omitted: AuditOmissions;
}

/** The audit as it is read: every row with its text, and the request's messages for display. */
export interface AuditContent extends AssemblyFacts {
  readonly wire: WireFacts;
  readonly blocks: readonly AuditBlock[];
  readonly providerRequest: ProviderRequest | null;
  readonly providerMessages: readonly ProviderMessage[];
  /** Requests of the same attempt that the provider refused as too long before this one was sent. */
  readonly refusedRequests: readonly ProviderRequest[];
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

function toStored(block: AuditBlock, request: ProviderRequest | null): StoredAuditBlock {
  if (request === null || block.order === null) return { ...block, messageIndex: null };
  const { content: _text, ...row } = block;
  if (block.sentAt !== undefined) return { ...row, messageIndex: null };
  const { toolCalls: _calls, toolCallId: _link, ...bare } = row;
  return { ...bare, messageIndex: block.order };
}

/** A stored document → the audit's content, each row with its text again. */
export function readAuditDocument(document: AuditDocument): AuditContent {
  const { version: _version, wire = PLAIN_CHAT, refusedRequests = [], blocks, providerRequest, ...facts } = document;
  return {
    ...facts,
    wire,
    refusedRequests,
    blocks: blocks.map((block) => fromStored(block, providerRequest)),
    providerRequest,
    providerMessages: providerMessages(providerRequest),
  };
}

/**
 * The audit of a request that is sent again unchanged: everything of the run that made it, but no stage ran.
 * `generationId` names that run.
 */
export function toReplayDocument(earlier: AuditDocument, generationId: string): AuditDocument {
  const { refusedRequests: _refused, ...document } = earlier;
  const replayed: Diagnostic = { code: "replayed", stage: "serialize", detail: { generationId } };
  return { ...document, stages: [], diagnostics: [replayed, ...earlier.diagnostics] };
}

function fromStored(stored: StoredAuditBlock, request: ProviderRequest | null): AuditBlock {
  const { messageIndex, ...block } = stored;
  if (request === null) return block;
  if (block.sentAt !== undefined) return { ...block, content: textAt(request, block.sentAt) };
  const message = messageIndex === null || !isChatRequest(request) ? undefined : request.messages[messageIndex];
  return message === undefined ? block : { ...block, ...sentParts(message) };
}
