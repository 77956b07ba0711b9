import { relevances } from "../../memory/relevance.ts";
import { newestText } from "../../memory/recent-text.ts";
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
 * Relevance: the host's (`context.relevance`), else the block's own, else BM25 against what was said last.
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
    const ranked = { ...input, blocks: withRelevance(input.blocks, context) };
    const leaving = vectorRecall.leavingOrder(ranked);
    const result = asResult(dropUntilFits(ranked, leaving));
    if (result.exceeded !== null) return yield* fit(ranked, leaving, context);
    return (yield* keepPartOfOldest(result, ranked, context)) ?? result;
  },
});

function withRelevance(blocks: readonly MeasuredBlock[], context: ShiftContext): readonly MeasuredBlock[] {
  const onShelf = blocks.filter((block) => SHELF.includes(block.source));
  if (onShelf.length === 0) return blocks;
  const known = onShelf.map((block) => context.relevance?.(block) ?? block.relevance);
  const missing = onShelf.filter((_block, index) => known[index] === null);
  const words = relevances(missing, [newestText(blocks, "user"), newestText(blocks, "assistant")]);
  const byWords = new Map(missing.map((block, index) => [block, words[index] ?? 0]));
  const relevanceOf = new Map(onShelf.map((block, index) => [block, known[index] ?? byWords.get(block) ?? 0]));
  return blocks.map((block) => {
    const relevance = relevanceOf.get(block) ?? block.relevance;
    return relevance === block.relevance ? block : { ...block, relevance };
  });
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
