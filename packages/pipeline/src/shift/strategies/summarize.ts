import type { CountedBlock } from "../../block.ts";
import { newestText } from "../../memory/recent-text.ts";
import { dropUntilFits, type Dropped } from "../drop-until-fits.ts";
import { asResult, fit } from "../fit.ts";
import { groupBlocks } from "../group.ts";
import { wait, type Plan } from "../plan.ts";
import { builtIn, type MeasuredBlock, type ShiftContext, type ShiftInput, type ShiftResult } from "../strategy.ts";
import { carriedLines, extractiveSummary } from "../summary/extractive.ts";
import { coveredBy, coveredId, placeOutsideGroups } from "../summary/summary-block.ts";
import { truncate } from "./truncate.ts";

const LARGEST_SUMMARY_TOKENS = 256;
const SUMMARY_SHARE = 0.1;

/**
 * As `truncate`; what left the history becomes a summary of quoted sentences, made without a model, directly before the
 * current input. Its room is set aside first: min(256 tokens, 10 % of the budget), or `strategyOptions.summaryTokens`.
 */
export const summarize = builtIn({
  id: "summarize",
  params: {
    type: "object",
    properties: {
      ...truncate.params.properties,
      summaryTokens: {
        type: "integer",
        minimum: 0,
        description: "The most a summary may cost. Default: 256 or a tenth of the budget, whichever is less.",
      },
    },
  },
  oldHistory: "uncounted",
  leavingOrder: truncate.leavingOrder,
  *plan(input, context) {
    const plain = asResult(dropUntilFits(input, truncate.leavingOrder(input)));
    if (plain.exceeded !== null) return yield* fit(input, truncate.leavingOrder(input), context);
    if (!plain.excluded.some(({ block }) => block.source === "history")) return plain;
    return yield* summarized(input, plain, context);
  },
});

function* summarized(input: ShiftInput, plain: ShiftResult, context: ShiftContext): Plan<ShiftResult> {
  const cap = capTokens(input);
  const roomy = makeRoom(input, plain, cap);
  const covered = coveredBlocks(input, roomy);
  const totalBefore = totalOf(input, roomy.kept);
  const space = Math.min(cap, input.budgetTokens - totalBefore);
  const earlier = covered.filter((block) => block.source === "summary");
  const spoken = covered.filter((block) => block.source !== "summary");
  const source = {
    groups: groupBlocks(spoken).map(({ members }) => members),
    carried: earlier.flatMap((block) => carriedLines(block.content)),
    covers: [...new Set([...earlier.flatMap(coveredBy), ...spoken.map(coveredId)])],
    query: newestText(input.blocks, "user"),
    beside: input.blocks,
  };
  const summary = yield* extractiveSummary(source, space, context);
  if (summary === null || !(yield* costsMore(covered, summary.tokens, context))) {
    const detail = { strategy: "summarize", summaryTokens: summary?.tokens ?? null, capTokens: space };
    return { ...plain, diagnostics: [{ code: "summary_not_smaller", stage: "shift", detail }] };
  }
  return insert(asResult(roomy), covered, summary, totalBefore);
}

function capTokens({ strategyOptions, budgetTokens }: ShiftInput): number {
  const asked = strategyOptions["summaryTokens"];
  const most = typeof asked === "number" ? asked : Math.min(LARGEST_SUMMARY_TOKENS, budgetTokens * SUMMARY_SHARE);
  return Math.floor(Math.min(most, budgetTokens));
}

/** More history leaves until the summary's room is free; nothing else gives way for it. */
function makeRoom(input: ShiftInput, plain: ShiftResult, cap: number): Dropped {
  const out = new Set(plain.excluded.map(({ block }) => block));
  const mayLeave = truncate
    .leavingOrder(input)
    .filter(
      ({ reason, group }) => reason === "shift_oldest" || reason === "shift_example" || out.has(group.members[0]),
    );
  return dropUntilFits({ ...input, budgetTokens: input.budgetTokens - cap }, mayLeave);
}

/** History that left and summaries there were before, oldest first. A new summary takes the earlier ones' place. */
function coveredBlocks(input: ShiftInput, dropped: Dropped): readonly MeasuredBlock[] {
  const out = new Set(dropped.excluded.filter(({ reason }) => reason === "shift_oldest").map(({ block }) => block));
  const left = input.blocks.filter((block) => block.source === "summary" || out.has(block));
  return [...(input.older ?? []), ...left];
}

function totalOf(input: ShiftInput, kept: readonly CountedBlock[]): number {
  return kept.reduce((sum, block) => sum + (block.source === "summary" ? 0 : block.tokens), input.overheadTokens);
}

/** Whether the blocks cost more than `tokens`; counts only as many as it takes to know. */
function* costsMore(blocks: readonly MeasuredBlock[], tokens: number, context: ShiftContext): Plan<boolean> {
  let sum = 0;
  for (const block of blocks) {
    sum += block.tokens ?? (yield* wait(context.count(block)));
    if (sum > tokens) return true;
  }
  return false;
}

function insert(
  result: ShiftResult,
  covered: readonly MeasuredBlock[],
  summary: CountedBlock,
  tokensBefore: number,
): ShiftResult {
  const gone = new Set<MeasuredBlock>(covered);
  const stays = result.kept.filter((block) => !gone.has(block));
  const input = stays.findIndex((block) => block.source === "input");
  const place = placeOutsideGroups(stays, input === -1 ? stays.length : input);
  const stayed = new Set<MeasuredBlock>(result.kept);
  const replaced = covered.filter((block) => stayed.has(block));
  const excluded = result.excluded.map((out) =>
    gone.has(out.block) ? { ...out, reason: "summarized" as const } : out,
  );
  const step = {
    step: result.steps.length + 1,
    action: "summarize" as const,
    blockIds: covered.map((block) => block.id),
    tokensBefore: result.steps.at(-1)?.tokensAfter ?? tokensBefore,
    tokensAfter: tokensBefore + summary.tokens,
  };
  return {
    ...result,
    kept: [...stays.slice(0, place), summary, ...stays.slice(place)],
    excluded: [...excluded, ...replaced.map((block) => ({ block, reason: "summarized" as const }))],
    steps: [...result.steps, step],
    exceeded: null,
    summary: { sourceHash: null, text: summary.content, covers: coveredBy(summary), calls: 0, exact: true },
  };
}
