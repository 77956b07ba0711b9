import { encodeId, type IdKind, type Problem } from "@shiftwork/contracts";
import type { AuditBlock, BlockSource, ReasonDetail, ShiftStep } from "@shiftwork/pipeline";

type DetailValue = ReasonDetail[string];

const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const BARE = new RegExp(`^${UUID}$`);
const PREFIXED = new RegExp(`^([a-z]+):(${UUID})`);

/** What the first part of a block's id names. */
const BLOCK_KINDS: { readonly [prefix: string]: IdKind } = { msg: "message", lore: "loreEntry", mem: "memory" };

const SOURCE_KINDS: { readonly [Source in BlockSource]?: IdKind } = {
  history: "message",
  input: "message",
  lorebook: "loreEntry",
  memory: "memory",
  character: "character",
  example: "character",
  system: "character",
  persona: "persona",
};

/** What evidence names by a bare id. */
const DETAIL_KINDS: { readonly [key: string]: IdKind } = {
  messageId: "message",
  covers: "message",
  duplicateOf: "memory",
  winners: "loreEntry",
  lorebookId: "lorebook",
  generationId: "generation",
};

/** A block id with a public id in it: `msg:<uuid>` → `msg:msg_…`. Other ids stay as they are. */
export function publicBlockId(id: string): string {
  return id.replace(PREFIXED, (whole, prefix: string, uuid: string) => {
    const kind = BLOCK_KINDS[prefix];
    return kind === undefined ? whole : `${prefix}:${encodeId(kind, uuid)}`;
  });
}

/** A row of an audit or a preview with public ids only. */
export function publicBlock(block: AuditBlock): AuditBlock {
  return {
    ...block,
    id: publicBlockId(block.id),
    groupId: block.groupId === null ? null : publicBlockId(block.groupId),
    refId: publicRefId(block.source, block.refId),
    reasonDetail: block.reasonDetail === null ? null : publicDetail(block.reasonDetail),
  };
}

function publicRefId(source: BlockSource, refId: string | null): string | null {
  const kind = SOURCE_KINDS[source];
  if (refId === null || kind === undefined || !BARE.test(refId)) return refId;
  return encodeId(kind, refId);
}

/** Structured evidence with public ids only. */
export function publicDetail(detail: ReasonDetail): ReasonDetail {
  return Object.fromEntries(Object.entries(detail).map(([key, value]) => [key, publicValue(key, value)]));
}

function publicValue(key: string, value: DetailValue): DetailValue {
  if (typeof value === "string") return publicText(key, value);
  if (Array.isArray(value)) return (value as readonly DetailValue[]).map((item) => publicValue(key, item));
  return typeof value === "object" && value !== null ? publicDetail(value as ReasonDetail) : value;
}

function publicText(key: string, text: string): string {
  const kind = DETAIL_KINDS[key];
  return kind !== undefined && BARE.test(text) ? encodeId(kind, text) : publicBlockId(text);
}

export function publicStep(step: ShiftStep): ShiftStep {
  return { ...step, blockIds: step.blockIds.map(publicBlockId) };
}

/** A stored problem whose parameters name blocks by public ids. */
export function publicProblem(problem: Problem): Problem {
  return { ...problem, params: publicDetail(problem.params as ReasonDetail) };
}
