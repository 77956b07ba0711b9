import type { Block, CountedBlock } from "../../block.ts";
import type { Diagnostic, ReasonDetail } from "../../reasons.ts";
import { fit } from "../fit.ts";
import { wait, type Plan } from "../plan.ts";
import { builtIn, type MeasuredBlock, type ShiftContext, type ShiftInput, type ShiftResult } from "../strategy.ts";
import { olderHalf } from "../summary/older-half.ts";
import type { SummaryFacts } from "../summary/summariser.ts";
import { coveredId, placeOutsideGroups, summaryBlock } from "../summary/summary-block.ts";
import { reportedSummary } from "../summary/transcript.ts";
import { writeSummary } from "../summary/write-summary.ts";
import { truncate } from "./truncate.ts";

/** Shares of the window and messages above which the history is compressed. */
const TRIGGER_SHARE = 0.75;
const FEWEST_MESSAGES = 4;
/** About 150 words. */
const DEFAULT_SUMMARY_TOKENS = 256;

/**
 * When the branch costs more than 75 % of the window and has at least four messages, its older half is replaced by a
 * summary that `context.summariser` writes; what is pinned or protected stays in place. Then as `truncate`. Whatever goes
 * wrong with the summary, the originals stay and `truncate` carries on, with a diagnostic.
 */
export const compress = builtIn({
  id: "compress",
  params: {
    type: "object",
    properties: {
      ...truncate.params.properties,
      summaryTokens: {
        type: "integer",
        minimum: 16,
        default: DEFAULT_SUMMARY_TOKENS,
        description: "The most the model may write for a summary.",
      },
      summarizer: {
        type: "object",
        description: "Who writes summaries; by default the generation's own model.",
        properties: {
          providerId: { type: "string", description: "The provider's id." },
          model: { type: "string", description: "The model's name." },
        },
      },
    },
  },
  oldHistory: "counted",
  leavingOrder: truncate.leavingOrder,
  *plan(input, context) {
    const { messages, tokens, covered } = olderHalf(input, summaryCap(input));
    const due = tokens > TRIGGER_SHARE * context.contextLimit && messages >= FEWEST_MESSAGES && covered.length > 0;
    if (!due) return yield* truncated(input, context, null);
    const made = yield* makeSummary(input, covered, context);
    if (!made.ok) return yield* truncated(input, context, made.problem);
    // The border was the cut; what is left of the history is not cut again unless it has to be.
    const compressed = { ...withSummary(input, covered, made.block), lowWater: null };
    const fitted = yield* fit(compressed, truncate.leavingOrder(compressed), context);
    if (!fitted.kept.some((block) => block.id === made.block.id)) {
      return yield* truncated(input, context, problem("summary_over_budget", { tokens: made.block.tokens }));
    }
    return asCompressed(fitted, input, covered, made);
  },
});

function summaryCap({ strategyOptions }: ShiftInput): number {
  const asked = strategyOptions["summaryTokens"];
  return typeof asked === "number" ? asked : DEFAULT_SUMMARY_TOKENS;
}

function* truncated(input: ShiftInput, context: ShiftContext, why: Diagnostic | null): Plan<ShiftResult> {
  const result = yield* fit(input, truncate.leavingOrder(input), context);
  return why === null ? result : { ...result, diagnostics: [...result.diagnostics, why] };
}

function problem(code: Diagnostic["code"], detail: ReasonDetail): Diagnostic {
  return { code, stage: "shift", detail: { strategy: "compress", ...detail } };
}

interface Made {
  readonly ok: true;
  readonly block: CountedBlock;
  readonly facts: SummaryFacts;
}

function* makeSummary(
  input: ShiftInput,
  covered: readonly MeasuredBlock[],
  context: ShiftContext,
): Plan<Made | { readonly ok: false; readonly problem: Diagnostic }> {
  const { summariser = null } = context;
  if (summariser === null) return { ok: false, problem: problem("summary_failed", { why: "there is no summariser" }) };
  const covers = covered.map(coveredId);
  const sourceTokens = covered.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0);
  const written = yield* writeSummary(covered, summariser, summaryCap(input), context);
  if (!written.ok) return { ok: false, problem: problem(written.code, { why: written.why }) };
  const block = yield* count(summaryBlock(reportedSummary(written.facts.text), covers, input.blocks), context);
  if (block.tokens >= sourceTokens) {
    const detail = { summaryTokens: block.tokens, sourceTokens };
    return { ok: false, problem: problem("summary_not_smaller", detail) };
  }
  return { ok: true, block, facts: { ...written.facts, covers } };
}

function* count(block: Block, context: ShiftContext): Plan<CountedBlock> {
  return { ...block, tokens: yield* wait(context.count(block)) };
}

/** The summary stands where the oldest message it covers stood. */
function withSummary(input: ShiftInput, covered: readonly MeasuredBlock[], summary: CountedBlock): ShiftInput {
  const gone = new Set(covered);
  const first = input.blocks.findIndex((block) => gone.has(block));
  const stays = input.blocks.filter((block) => !gone.has(block));
  const place = placeOutsideGroups(stays, first);
  return { ...input, blocks: [...stays.slice(0, place), summary, ...stays.slice(place)] };
}

function asCompressed(
  fitted: ShiftResult,
  input: ShiftInput,
  covered: readonly MeasuredBlock[],
  { block, facts }: Made,
): ShiftResult {
  const tokensBefore = input.blocks.reduce((sum, { tokens }) => sum + (tokens ?? 0), input.overheadTokens);
  const tokensAfter = tokensBefore - covered.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0) + block.tokens;
  const blockIds = covered.map(({ id }) => id);
  const first = { step: 1, action: "summarize" as const, blockIds, tokensBefore, tokensAfter };
  return {
    ...fitted,
    excluded: [...covered.map((one) => ({ block: one, reason: "summarized" as const })), ...fitted.excluded],
    steps: [first, ...fitted.steps.map((step) => ({ ...step, step: step.step + 1 }))],
    summary: facts,
  };
}
