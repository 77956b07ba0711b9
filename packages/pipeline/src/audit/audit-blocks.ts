import type { Block, CountedBlock, LeftOutBlock } from "../block.ts";
import type { AuditBlock, ChatRequestMessage } from "../prompt.ts";
import type { ReasonDetail } from "../reasons.ts";
import { upperBoundTokens } from "../shift/token-bound.ts";
import { protectedIds } from "../shift/protection.ts";
import { toWireMessage } from "../wire/openai-chat.ts";

/**
 * Rows of the audit: included blocks in sent order (`order` 0, 1, …) with what the model saw, one `overhead` row for
 * priming and tool schemas, then what was left out, in leaving order.
 */
export function auditBlocks(input: {
  readonly included: readonly CountedBlock[];
  readonly leftOut: readonly LeftOutBlock[];
  readonly overheadTokens: number;
  /** The strategy that ran; a mark of `manual` says so where another took no notice of it. */
  readonly strategy: string;
}): readonly AuditBlock[] {
  const locked = protectedIds(input.included);
  return [
    ...input.included.map((block, order) => includedRow(block, order, locked.has(block.id), input.strategy)),
    overheadRow(input.overheadTokens),
    ...input.leftOut.map((entry) => leftOutRow(entry, input.strategy)),
  ];
}

function includedRow(block: CountedBlock, order: number, isProtected: boolean, strategy: string): AuditBlock {
  const sent = sentParts(toWireMessage(block).message);
  return {
    ...facts(block),
    ...sent,
    order,
    tokens: block.tokens,
    originalTokens: block.originalTokens ?? null,
    included: true,
    protected: isProtected,
    reason: block.reason,
    reasonDetail: withManualMark(block, block.reasonDetail, strategy),
    stage: block.stage,
  };
}

function leftOutRow({ block, tokens, reason, reasonDetail, stage }: LeftOutBlock, strategy: string): AuditBlock {
  return {
    ...facts(block),
    order: null,
    tokens,
    ...(tokens === null ? { tokensUpperBound: upperBoundTokens(block) } : {}),
    included: false,
    protected: false,
    reason,
    reasonDetail: withManualMark(block, reasonDetail, strategy),
    stage,
    content: block.content,
    ...(block.toolCalls.length === 0 ? {} : { toolCalls: block.toolCalls }),
    ...(block.toolCallId === null ? {} : { toolCallId: block.toolCallId }),
  };
}

/** Says of a marked block why the mark did nothing: another strategy ran, or protection won. */
function withManualMark(
  block: Pick<Block, "manualExcluded" | "source"> & { readonly reason?: unknown },
  detail: ReasonDetail | null,
  strategy: string,
): ReasonDetail | null {
  if (block.manualExcluded !== true) return detail;
  const ignored = strategy === "manual" ? "protected" : `strategy ${strategy}`;
  return { ...detail, manualExcluded: true, ignored };
}

function overheadRow(tokens: number): AuditBlock {
  return {
    order: null,
    id: "overhead:request",
    source: "overhead",
    label: "Priming and tool schemas",
    name: null,
    role: "system",
    refId: null,
    seq: null,
    tokens,
    originalTokens: null,
    included: true,
    protected: true,
    pinned: false,
    relevance: null,
    groupId: null,
    reason: "overhead",
    reasonDetail: null,
    stage: "tokenize",
  };
}

function facts(block: Omit<Block, "reason" | "reasonDetail" | "stage">) {
  const { id, source, label, name, role, refId, seq, pinned, relevance, groupId } = block;
  return { id, source, label, name, role, refId, seq, pinned, relevance, groupId, originalTokens: null };
}

/** What of a wire message stands in an audit row: the text and names as they were sent. */
export function sentParts(
  message: ChatRequestMessage,
): Pick<AuditBlock, "content" | "name" | "toolCalls" | "toolCallId"> {
  const calls = message.tool_calls?.map((call) => ({ id: call.id, ...call.function }));
  return {
    content: message.content ?? "",
    name: message.name ?? null,
    ...(calls === undefined ? {} : { toolCalls: calls }),
    ...(message.tool_call_id === undefined ? {} : { toolCallId: message.tool_call_id }),
  };
}

/** The messages that the included rows stand for, in sent order: equal to the request's own, or the audit is wrong. */
export function messagesOfBlocks(blocks: readonly AuditBlock[]): readonly ChatRequestMessage[] {
  return blocks
    .filter((block) => block.order !== null)
    .toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0))
    .map((block) => toWireMessage(wireBlock(block)).message);
}

function wireBlock({ role, content, name, toolCalls, toolCallId }: AuditBlock) {
  return { role, content: content ?? "", name, toolCalls: toolCalls ?? [], toolCallId: toolCallId ?? null };
}
