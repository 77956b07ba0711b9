import type { CountedBlock } from "../block.ts";
import type { ShiftStep } from "../prompt.ts";
import type { Diagnostic, ReasonDetail } from "../reasons.ts";
import { withinTime } from "../within-time.ts";
import { boundTokens } from "./token-bound.ts";
import { fit } from "./fit.ts";
import { isPromise, wait, type Plan } from "./plan.ts";
import { protectedIds } from "./protection.ts";
import { readAnswer, type ReadAnswer } from "./read-answer.ts";
import { isBuiltIn } from "./registry.ts";
import { truncate } from "./strategies/truncate.ts";
import type { MeasuredBlock, ShiftContext, ShiftedOut, ShiftInput, ShiftResult, Strategy } from "./strategy.ts";

/** How long an asynchronous strategy may take. */
const STRATEGY_TIMEOUT_MS = 2_000;

/**
 * Runs a strategy. The host's own are trusted; of any other it takes an answer only as far as it may go: protected blocks
 * dropped, an exception, too much time or nonsense → the host's own `truncate` runs instead; text, role, pins and tool
 * links stay the host's; groups stay whole; only summaries may be added; the result is counted again and made to fit.
 * Every intervention is a diagnostic.
 */
export function* runStrategy(strategy: Strategy, input: ShiftInput, context: ShiftContext): Plan<ShiftResult> {
  context.signal?.throwIfAborted();
  if (isBuiltIn(strategy)) return yield* strategy.plan(input, context);
  const answered = yield* answerOf(strategy, input, context);
  if (!answered.ok) return yield* hostTruncates(input, context, answered.problem);
  const answer = readAnswer(strategy.id, input.blocks, answered.answer);
  if (answer === null)
    return yield* hostTruncates(input, context, noted("strategy_failed", strategy, { why: "answer" }));
  const kept = new Set(answer.kept.map((block) => block.id));
  const dropped = [...protectedIds(input.blocks)].filter((id) => !kept.has(id));
  if (dropped.length > 0) return yield* restored(strategy, input, answer, dropped, context);
  return yield* refitted(strategy, input, yield* counted(answer, context), context);
}

type Answered = { readonly ok: true; readonly answer: unknown } | { readonly ok: false; readonly problem: Diagnostic };

function* answerOf(strategy: Strategy, input: ShiftInput, context: ShiftContext): Plan<Answered> {
  try {
    // Copies: whatever a strategy writes to them, the host's blocks stay as they were.
    const copies = input.blocks.map((block) => ({ ...block, toolCalls: block.toolCalls.map((call) => ({ ...call })) }));
    const working: unknown = strategy.shift({ ...input, blocks: copies }, context);
    if (!isPromise(working)) return { ok: true, answer: working };
    const timed = yield* wait(withinTime(() => working, STRATEGY_TIMEOUT_MS, context));
    if (!timed.timedOut) return { ok: true, answer: timed.value };
    return { ok: false, problem: noted("strategy_timeout", strategy, { timeoutMs: STRATEGY_TIMEOUT_MS }) };
  } catch {
    context.signal?.throwIfAborted();
    return { ok: false, problem: noted("strategy_failed", strategy, { why: "exception" }) };
  }
}

function noted(code: Diagnostic["code"], { id }: Strategy, detail: ReasonDetail): Diagnostic {
  return { code, stage: "shift", detail: { strategy: id, ...detail } };
}

function* hostTruncates(input: ShiftInput, context: ShiftContext, why: Diagnostic): Plan<ShiftResult> {
  const result = yield* fit(input, truncate.leavingOrder(input), context);
  return { ...result, diagnostics: [why, ...result.diagnostics] };
}

/** Protected blocks come back, and nothing else of the answer counts. */
function* restored(
  strategy: Strategy,
  input: ShiftInput,
  answer: ReadAnswer,
  blockIds: readonly string[],
  context: ShiftContext,
): Plan<ShiftResult> {
  const result = yield* hostTruncates(input, context, noted("strategy_rejected", strategy, { blockIds }));
  const tokensBefore = totalOf(
    input,
    answer.kept.filter(({ source }) => source !== "summary"),
  );
  const step = {
    step: 1,
    action: "restore" as const,
    blockIds,
    tokensBefore,
    tokensAfter: totalOf(input, input.blocks),
  };
  return { ...result, steps: numbered([step, ...result.steps]) };
}

type CountedAnswer = Omit<ReadAnswer, "kept"> & { readonly kept: readonly CountedBlock[] };

/** What it counts itself the host does not take from a strategy. */
function* counted(answer: ReadAnswer, context: ShiftContext): Plan<CountedAnswer> {
  const kept: CountedBlock[] = [];
  for (const block of answer.kept) kept.push({ ...block, tokens: block.tokens ?? (yield* wait(context.count(block))) });
  return { ...answer, kept };
}

function* refitted(
  strategy: Strategy,
  input: ShiftInput,
  answer: CountedAnswer,
  context: ShiftContext,
): Plan<ShiftResult> {
  const again = { ...input, blocks: answer.kept, lowWater: null, anchorId: null };
  const result = yield* fit(again, truncate.leavingOrder(again), context);
  const tokens = totalOf(again, answer.kept);
  const { budgetTokens } = input;
  const over = tokens > budgetTokens ? [noted("strategy_over_budget", strategy, { tokens, budgetTokens })] : [];
  const summaries = result.kept.filter((block) => block.source === "summary" && block.stage === "shift");
  const first = {
    step: 1,
    action: summaries.length > 0 ? ("summarize" as const) : ("drop" as const),
    blockIds: answer.excluded.map(({ block }) => block.id),
    tokensBefore: totalOf(input, input.blocks),
    tokensAfter: tokens,
  };
  return {
    ...result,
    excluded: [...answer.excluded.map((out) => withoutSummary(out, summaries.length)), ...result.excluded],
    steps: numbered(answer.excluded.length === 0 ? result.steps : [first, ...result.steps]),
    diagnostics: [...answer.diagnostics, ...over, ...result.diagnostics],
  };
}

/** Nothing is summarised by a summary that had to leave again. */
function withoutSummary(out: ShiftedOut, summaries: number): ShiftedOut {
  return out.reason === "summarized" && summaries === 0 ? { ...out, reason: "strategy_dropped" } : out;
}

function totalOf({ overheadTokens }: ShiftInput, blocks: readonly MeasuredBlock[]): number {
  return blocks.reduce((sum, block) => sum + boundTokens(block), overheadTokens);
}

function numbered(steps: readonly ShiftStep[]): readonly ShiftStep[] {
  return steps.map((step, index) => ({ ...step, step: index + 1 }));
}
