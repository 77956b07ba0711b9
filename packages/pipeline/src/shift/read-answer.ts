import { EXCLUDED_REASONS, type Diagnostic, type ExcludedReason, type ReasonDetail } from "../reasons.ts";
import { groupBlocks } from "./group.ts";
import type { AnsweredBlock, MeasuredBlock, ShiftedOut } from "./strategy.ts";
import { placeOutsideGroups, summaryBlock } from "./summary/summary-block.ts";

/** A strategy's answer after the host took back what is its own. */
export interface ReadAnswer {
  /** In prompt order: host blocks as the host knows them, and the summaries that were added. */
  readonly kept: readonly MeasuredBlock[];
  /** In leaving order. */
  readonly excluded: readonly ShiftedOut[];
  readonly diagnostics: readonly Diagnostic[];
}

/** What a strategy may say of a block that it left out. */
const REASONS_OF_STRATEGIES: ReadonlySet<unknown> = new Set<ExcludedReason>([
  "shift_oldest",
  "shift_low_relevance",
  "shift_example",
  "shift_call_group",
  "manual_excluded",
  "summarized",
]);

/**
 * Reads an answer by the ids of the host's blocks. `null` when it is no answer at all. A group of which a part is missing
 * leaves whole; what is in neither list leaves as `strategy_dropped`.
 */
export function readAnswer(strategy: string, blocks: readonly MeasuredBlock[], answer: unknown): ReadAnswer | null {
  const given = keptOf(answer);
  if (given === null) return null;
  const known = new Map(blocks.map((block) => [block.id, block]));
  const answeredIds = new Set(given.map(({ id }) => id));
  const split = groupBlocks(blocks).filter(
    ({ members }) => new Set(members.map(({ id }) => answeredIds.has(id))).size > 1,
  );
  const splitIds = new Set(split.flatMap(({ members }) => members.map(({ id }) => id)));
  const stays = blocks.filter(({ id }) => answeredIds.has(id) && !splitIds.has(id));
  const additions = given.filter((block) => !known.has(block.id));
  const accepted = additions.filter(isSummary);
  const refused = additions.filter((block) => !isSummary(block)).map(({ id }) => id);
  const edited = given.filter((block) => differs(known.get(block.id), block)).map(({ id }) => id);
  const note = (code: Diagnostic["code"], blockIds: readonly string[]): readonly Diagnostic[] =>
    blockIds.length === 0 ? [] : [{ code, stage: "shift", detail: { strategy, blockIds } satisfies ReasonDetail }];
  return {
    kept: withAdditions(stays, given, accepted, blocks),
    excluded: leftOut(answer, blocks, new Set(stays), accepted.length > 0),
    diagnostics: [
      ...note("strategy_edited", edited),
      ...note("strategy_split_group", [...splitIds]),
      ...note("strategy_addition_refused", refused),
    ],
  };
}

function keptOf(answer: unknown): readonly AnsweredBlock[] | null {
  if (typeof answer !== "object" || answer === null) return null;
  const { kept } = answer as { readonly kept?: unknown };
  if (!Array.isArray(kept)) return null;
  const readable = kept.every((block: unknown) => typeof (block as { id?: unknown } | null)?.id === "string");
  return readable ? (kept as readonly AnsweredBlock[]) : null;
}

function isSummary({ source, content }: AnsweredBlock): boolean {
  return source === "summary" && typeof content === "string" && content.trim() !== "";
}

/** Whether an answer says something else of a host block than the host does. What it does not say is not compared. */
function differs(block: MeasuredBlock | undefined, answered: AnsweredBlock): boolean {
  if (block === undefined) return false;
  const said: { readonly [field: string]: unknown } = { ...answered };
  const fields = ["content", "source", "role", "pinned", "required", "toolCallId", "groupId"] as const;
  const calls =
    said["toolCalls"] !== undefined && JSON.stringify(said["toolCalls"]) !== JSON.stringify(block.toolCalls);
  return calls || fields.some((field) => said[field] !== undefined && said[field] !== block[field]);
}

/** Host blocks in their own order; each summary behind the host block it followed, never inside a group. */
function withAdditions(
  stays: readonly MeasuredBlock[],
  given: readonly AnsweredBlock[],
  accepted: readonly AnsweredBlock[],
  blocks: readonly MeasuredBlock[],
): readonly MeasuredBlock[] {
  const host = new Map(stays.map((block, index) => [block.id, index]));
  const covers = blocks.filter((block) => !host.has(block.id)).map((block) => block.refId ?? block.id);
  const kept = [...stays];
  for (const addition of accepted.toReversed()) {
    const before = given.slice(0, given.indexOf(addition)).findLast(({ id }) => host.has(id));
    const place = before === undefined ? 0 : (host.get(before.id) ?? 0) + 1;
    const role = addition.role === "user" || addition.role === "assistant" ? addition.role : "system";
    const block = summaryBlock(addition.content ?? "", covers, [...blocks, ...kept]);
    kept.splice(placeOutsideGroups(kept, place), 0, { ...block, role, tokens: null });
  }
  return kept;
}

function leftOut(
  answer: unknown,
  blocks: readonly MeasuredBlock[],
  stays: ReadonlySet<MeasuredBlock>,
  hasSummary: boolean,
): readonly ShiftedOut[] {
  const { excluded } = answer as { readonly excluded?: unknown };
  const listed = Array.isArray(excluded) ? (excluded as readonly unknown[]) : [];
  const reasonOf = new Map(listed.map((entry) => [idOf(entry), reasonIn(entry, hasSummary)]));
  const order = new Map([...reasonOf.keys()].map((id, index) => [id, index]));
  const rank = (block: MeasuredBlock): number => order.get(block.id) ?? order.size;
  return blocks
    .filter((block) => !stays.has(block))
    .toSorted((a, b) => rank(a) - rank(b))
    .map((block) => ({ block, reason: reasonOf.get(block.id) ?? "strategy_dropped" }));
}

function idOf(entry: unknown): unknown {
  return (entry as { readonly block?: { readonly id?: unknown } | null } | null)?.block?.id;
}

function reasonIn(entry: unknown, hasSummary: boolean): ExcludedReason {
  const { reason } = (entry ?? {}) as { readonly reason?: unknown };
  const known = EXCLUDED_REASONS.find((candidate) => candidate === reason);
  if (known === undefined || !REASONS_OF_STRATEGIES.has(known)) return "strategy_dropped";
  return known === "summarized" && !hasSummary ? "strategy_dropped" : known;
}
