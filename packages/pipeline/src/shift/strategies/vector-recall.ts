import { missingVectors } from "../../memory/missing-vectors.ts";
import { newestText } from "../../memory/recent-text.ts";
import { relevanceEvidence, relevances } from "../../memory/relevance.ts";
import type { Diagnostic } from "../../reasons.ts";
import { asResult, fit } from "../fit.ts";
import { dropUntilFits } from "../drop-until-fits.ts";
import { optionalGroups, SHELF } from "../optional-groups.ts";
import type { Plan } from "../plan.ts";
import { protect } from "../protection.ts";
import { replaceText } from "../replace-text.ts";
import { shortenBlock } from "../shorten-block.ts";
import { builtIn, type MeasuredBlock, type ShiftContext, type ShiftInput, type ShiftResult } from "../strategy.ts";
import { truncate } from "./truncate.ts";

/** Less of an old message than this is not worth keeping. */
const SMALLEST_HISTORY_TOKENS = 64;

/**
 * Leaving order: optional lore, memory, template and plugin blocks by ascending relevance, examples, history oldest
 * first, older call groups. The oldest history text that does not fit is shortened when at least 64 tokens of it do.
 * Relevance: the host's (`context.relevance`), else the block's own, else what words and vectors have in common with
 * what was said last; that one leaves its evidence in the block's detail.
 */
export const vectorRecall = builtIn({
  id: "vector-recall",
  params: truncate.params,
  oldHistory: "ignored",
  leavingOrder(input) {
    const { examples, history, summaries, shelf, openTurn } = optionalGroups(input);
    const examplesLast = input.strategyOptions["examples"] === "last";
    const spoken = [...history, ...summaries];
    return [...shelf, ...(examplesLast ? [...spoken, ...examples] : [...examples, ...spoken]), ...openTurn];
  },
  *plan(input, context) {
    const { blocks, diagnostics } = withRelevance(input.blocks, context);
    const ranked = { ...input, blocks };
    const leaving = vectorRecall.leavingOrder(ranked);
    const result = asResult(dropUntilFits(ranked, leaving));
    const fitted =
      result.exceeded === null
        ? ((yield* keepPartOfOldest(result, ranked, context)) ?? result)
        : yield* fit(ranked, leaving, context);
    return { ...fitted, diagnostics: [...diagnostics, ...fitted.diagnostics] };
  },
});

interface Ranked {
  readonly blocks: readonly MeasuredBlock[];
  readonly diagnostics: readonly Diagnostic[];
}

function withRelevance(blocks: readonly MeasuredBlock[], context: ShiftContext): Ranked {
  const known = new Map<MeasuredBlock, number>();
  const unknown: MeasuredBlock[] = [];
  for (const block of blocks.filter(({ source }) => SHELF.includes(source))) {
    const relevance = context.relevance?.(block) ?? block.relevance;
    if (relevance === null) unknown.push(block);
    else known.set(block, relevance);
  }
  const queries = [newestText(blocks, "user"), newestText(blocks, "assistant")];
  const found = relevances(unknown, queries, { recall: context.recall });
  const foundOf = new Map(unknown.map((block, index) => [block, found.each[index]]));
  return {
    blocks: blocks.map((block) => {
      const [relevance, own] = [known.get(block), foundOf.get(block)];
      if (own) {
        const reasonDetail = { ...block.reasonDetail, ...relevanceEvidence(own) };
        return { ...block, relevance: own.score, reasonDetail };
      }
      return relevance === undefined || relevance === block.relevance ? block : { ...block, relevance };
    }),
    diagnostics: missingVectors("shift", unknown.length, found),
  };
}

/** `null` = nothing of it fits, or it is not plain text of the history. Off with `lowWater`, which wants a still prefix. */
function* keepPartOfOldest(result: ShiftResult, input: ShiftInput, context: ShiftContext): Plan<ShiftResult | null> {
  if (input.strategyOptions["shorten"] === false || (input.lowWater ?? null) !== null) return null;
  const last = result.excluded.at(-1);
  const isOldText = last?.reason === "shift_oldest" && last.block.source === "history" && last.block.groupId === null;
  if (last === undefined || !isOldText || protect(input.blocks).isOpenTurnBlock(last.block)) return null;
  const { block } = last;
  const total = result.steps.at(-1)?.tokensAfter ?? 0;
  const space = input.budgetTokens - total;
  if (block.tokens === null || block.tokens <= space || space < SMALLEST_HISTORY_TOKENS) return null;
  const shorter = yield* shortenBlock({ ...block, tokens: block.tokens }, space, context);
  if (shorter === null || shorter.tokens < SMALLEST_HISTORY_TOKENS) return null;
  return takeBack(result, input, block, shorter);
}

function takeBack(
  result: ShiftResult,
  input: ShiftInput,
  block: MeasuredBlock,
  shorter: NonNullable<ShiftResult["truncated"][number]["replacement"]> & { readonly originalTokens: number },
): ShiftResult {
  const keptIds = new Set(result.kept.map((kept) => kept.id));
  const kept = input.blocks.filter((other) => other === block || keptIds.has(other.id));
  const before = {
    ...result,
    kept: kept as ShiftResult["kept"],
    excluded: result.excluded.slice(0, -1),
    steps: result.steps.slice(0, -1),
  };
  const { originalTokens, tokens } = shorter;
  const tokensBefore = result.steps.at(-1)?.tokensBefore ?? originalTokens;
  return replaceText(before, { block, replacement: shorter, originalTokens, tokens }, tokensBefore);
}
