import type { Block, CountedBlock } from "../block.ts";
import { wait, type Plan } from "./plan.ts";
import { shortenText } from "./shorten-text.ts";
import type { MeasuredBlock, ShiftContext } from "./strategy.ts";

/**
 * The block with as much of its text, from head and tail, as `limitTokens` lets stand; `null` when not even the mark
 * fits, or when its cost does not follow its text.
 */
export function* shortenBlock(
  block: MeasuredBlock & { readonly tokens: number },
  limitTokens: number,
  context: Pick<ShiftContext, "count">,
): Plan<(CountedBlock & { readonly originalTokens: number }) | null> {
  let fits: { readonly text: string; readonly tokens: number } | null = null;
  let least = 0;
  let most = block.content.length;
  // The cost is about proportional to the length, so the first guess is near; the search settles the rest.
  let keep = Math.floor((most * limitTokens) / Math.max(1, block.tokens));
  while (least < most) {
    const text = shortenText(block.content, keep);
    const tokens = yield* wait(context.count(shortened(block, text)));
    if (tokens <= limitTokens) {
      fits = { text, tokens };
      least = keep + 1;
    } else most = keep;
    keep = Math.floor((least + most) / 2);
  }
  if (fits === null || fits.tokens >= block.tokens) return null;
  return { ...shortened(block, fits.text), tokens: fits.tokens, originalTokens: block.originalTokens ?? block.tokens };
}

function shortened<B extends Block>(block: B, content: string): B {
  return { ...block, content, reason: "truncated" };
}
