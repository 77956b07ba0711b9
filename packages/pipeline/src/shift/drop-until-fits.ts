import type { CountedBlock } from "../block.ts";
import type { LargestBlock } from "../errors.ts";
import type { ShiftStep } from "../prompt.ts";
import type { ExcludedReason } from "../reasons.ts";
import type { Group } from "./group.ts";
import { boundTokens } from "./token-bound.ts";
import { cutAtAnchor, isHistory, lowWaterTarget } from "./low-water.ts";
import type { MeasuredBlock, ShiftedOut, ShiftInput, ShiftResult } from "./strategy.ts";

/** A group that may leave, and what the audit says when it does. */
export interface Leaving {
  readonly group: Group<MeasuredBlock>;
  readonly reason: ExcludedReason;
  /** Leaves even when everything fits. */
  readonly always?: boolean;
}

const LARGEST_LISTED = 5;

/** What was left out on the way down, and what stays. */
export type Dropped = Pick<ShiftResult, "kept" | "excluded" | "steps" | "exceeded">;

/**
 * Lets groups leave in the given order until the total fits; with `lowWater` the history leaves down to it. Counts by
 * subtraction, so the walk is linear in the number of blocks; while a block without a count is in, the total counts as
 * over budget.
 */
export function dropUntilFits(input: ShiftInput, leaving: readonly Leaving[]): Dropped {
  const walk = startWalk(input);
  const settled = new Set([...leaving.filter(({ always }) => always === true), ...cutAtAnchor(input, leaving)]);
  for (const entry of settled) walk.drop(entry);
  const target = walk.fits(input.budgetTokens) ? input.budgetTokens : lowWaterTarget(input, leaving, walk.total());
  for (const entry of leaving) {
    if (settled.has(entry)) continue;
    const wanted = isHistory(entry) ? target : input.budgetTokens;
    if (!walk.fits(wanted)) walk.drop(entry);
  }
  return walk.result();
}

function startWalk({ blocks, budgetTokens, overheadTokens }: ShiftInput) {
  let total = overheadTokens;
  let uncounted = 0;
  for (const block of blocks) {
    total += boundTokens(block);
    if (block.tokens === null) uncounted += 1;
  }
  const excluded: ShiftedOut[] = [];
  const steps: ShiftStep[] = [];
  const gone = new Set<MeasuredBlock>();
  const fits = (tokens: number): boolean => uncounted === 0 && total <= tokens;
  function drop({ group, reason }: Leaving): void {
    const tokensBefore = total;
    for (const block of group.members) {
      gone.add(block);
      excluded.push({ block, reason });
      total -= boundTokens(block);
      if (block.tokens === null) uncounted -= 1;
    }
    const blockIds = group.members.map((block) => block.id);
    steps.push({ step: steps.length + 1, action: "drop", blockIds, tokensBefore, tokensAfter: total });
  }
  function result(): Dropped {
    const kept = blocks.filter((block): block is CountedBlock => !gone.has(block) && block.tokens !== null);
    const exceeded = fits(budgetTokens) ? null : { protectedTokens: total, largest: largestOf(kept) };
    return { kept, excluded, steps, exceeded };
  }
  return { total: () => total, fits, drop, result };
}

/** The dearest blocks, at most five, dearest first; equal ones by id. */
export function largestOf(blocks: readonly CountedBlock[]): readonly LargestBlock[] {
  return blocks
    .toSorted((a, b) => b.tokens - a.tokens || (a.id < b.id ? -1 : 1))
    .slice(0, LARGEST_LISTED)
    .map((block) => ({ blockId: block.id, source: block.source, label: block.label, tokens: block.tokens }));
}
