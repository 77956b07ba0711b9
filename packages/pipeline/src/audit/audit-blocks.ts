import type { Block, CountedBlock, LeftOutBlock } from "../block.ts";
import type { AuditBlock, ProviderRequest } from "../prompt.ts";
import type { ReasonDetail } from "../reasons.ts";
import { upperBoundTokens } from "../shift/token-bound.ts";
import { protectedIds } from "../shift/protection.ts";
import type { Segment } from "../wire/wire.ts";
import { partsOfBlock, partsOfSegment } from "./sent-parts.ts";

/** A request whose blocks are not messages of their own, and where they stand in it. */
export interface SegmentedRequest {
  readonly request: ProviderRequest;
  readonly segments: readonly Segment[];
}

/**
 * Rows of the audit: included blocks in sent order (`order` 0, 1, …) with what the model saw, one `overhead` row for
 * priming, tool schemas and what the host itself wrote, then what was left out, in leaving order.
 */
export function auditBlocks(input: {
  readonly included: readonly CountedBlock[];
  /** `null` or absent = block i is message i. */
  readonly segmented?: SegmentedRequest | null;
  readonly leftOut: readonly LeftOutBlock[];
  readonly overheadTokens: number;
  /** The strategy that ran; a mark of `manual` says so where another took no notice of it. */
  readonly strategy: string;
}): readonly AuditBlock[] {
  const locked = protectedIds(input.included);
  const placeOf = input.segmented ? placeReader(input.segmented) : null;
  return [
    ...input.included.map((block, order) => {
      const row = includedRow(block, locked.has(block.id), input.strategy);
      return placeOf === null ? asMessage(row, block, order) : { ...row, ...placeOf(block) };
    }),
    { ...overheadRow(input.overheadTokens), ...placeOf?.(null) },
    ...input.leftOut.map((entry) => leftOutRow(entry, input.strategy)),
  ];
}

/** Order and text as sent, of a block or (`null`) of what the host itself wrote, if it wrote anything. */
function placeReader({ request, segments }: SegmentedRequest) {
  const orders = new Map(segments.map(({ blockId }, order) => [blockId, order]));
  return (block: CountedBlock | null): Partial<AuditBlock> => {
    const order = orders.get(block?.id ?? null);
    const segment = order === undefined ? undefined : segments[order];
    return order === undefined || segment === undefined ? {} : { order, ...partsOfSegment(segment, block, request) };
  };
}

type Row = { -readonly [Field in keyof AuditBlock]: AuditBlock[Field] };

function asMessage(row: Row, block: CountedBlock, order: number): Row {
  const { content, name, toolCalls, toolCallId } = partsOfBlock(block);
  row.order = order;
  row.name = name;
  if (content !== undefined) row.content = content;
  if (toolCalls !== undefined) row.toolCalls = toolCalls;
  if (toolCallId !== undefined) row.toolCallId = toolCallId;
  return row;
}

function includedRow(block: CountedBlock, isProtected: boolean, strategy: string): Row {
  const row = rowOf(block, block, strategy);
  row.originalTokens = block.originalTokens ?? null;
  row.included = true;
  row.protected = isProtected;
  return row;
}

function leftOutRow(entry: LeftOutBlock, strategy: string): Row {
  const { block, tokens } = entry;
  const row = rowOf(block, entry, strategy);
  row.content = block.content;
  if (tokens === null) row.tokensUpperBound = upperBoundTokens(block);
  if (block.toolCalls.length > 0) row.toolCalls = block.toolCalls;
  if (block.toolCallId !== null) row.toolCallId = block.toolCallId;
  return row;
}

/**
 * The row of a block that is out, until it is said to be in. One literal, not spread together: every prompt makes hundreds,
 * and with the same fields in the same order they cost a fraction.
 */
function rowOf(
  block: LeftOutBlock["block"],
  verdict: Pick<AuditBlock, "tokens" | "reason" | "reasonDetail" | "stage">,
  strategy: string,
): Row {
  return {
    id: block.id,
    source: block.source,
    label: block.label,
    name: block.name,
    role: block.role,
    refId: block.refId,
    seq: block.seq,
    pinned: block.pinned,
    relevance: block.relevance,
    groupId: block.groupId,
    originalTokens: null,
    order: null,
    tokens: verdict.tokens,
    included: false,
    protected: false,
    reason: verdict.reason,
    reasonDetail: withManualMark(block, verdict.reasonDetail, strategy),
    stage: verdict.stage,
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
    label: "Framing of the request",
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
