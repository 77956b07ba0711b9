import type { CountedBlock } from "../block.ts";
import type { LargestBlock } from "../errors.ts";
import type { ShiftStep } from "../prompt.ts";
import type { ExcludedReason } from "../reasons.ts";
import type { Group } from "./group.ts";
import type { MeasuredBlock, ShiftedOut, ShiftInput, ShiftResult } from "./strategy.ts";

/** A group that may leave, and what the audit says when it does. */
export interface Leaving {
  readonly group: Group<MeasuredBlock>;
  readonly reason: ExcludedReason;
}

const LARGEST_LISTED = 5;
const encoder = new TextEncoder();

/**
 * Lets groups leave in the given order until the total fits. Counts by subtraction, so the walk is linear in the number
 * of blocks; while a block without a count is in, the total counts as over budget.
 */
export function dropUntilFits(input: ShiftInput, leaving: Iterable<Leaving>): ShiftResult {
  const { blocks, budgetTokens, overheadTokens } = input;
  let total = overheadTokens;
  let uncounted = 0;
  for (const block of blocks) {
    total += boundTokens(block);
    if (block.tokens === null) uncounted += 1;
  }
  const excluded: ShiftedOut[] = [];
  const steps: ShiftStep[] = [];
  const gone = new Set<MeasuredBlock>();
  const fits = (): boolean => uncounted === 0 && total <= budgetTokens;
  for (const { group, reason } of fits() ? [] : leaving) {
    const tokensBefore = total;
    for (const block of group.members) {
      gone.add(block);
      excluded.push({ block, reason });
      total -= boundTokens(block);
      if (block.tokens === null) uncounted -= 1;
    }
    const blockIds = group.members.map((block) => block.id);
    steps.push({ step: steps.length + 1, action: "drop", blockIds, tokensBefore, tokensAfter: total });
    if (fits()) break;
  }
  const kept = blocks.filter((block): block is CountedBlock => !gone.has(block) && block.tokens !== null);
  const exceeded = fits() ? null : { protectedTokens: total, largest: largestOf(kept) };
  return { kept, excluded, steps, exceeded };
}

/** The count, or for an uncounted block its bound: no byte-level vocabulary gives more tokens than UTF-8 bytes. */
function boundTokens(block: MeasuredBlock): number {
  return block.tokens ?? upperBoundTokens(block);
}

/** UTF-8 bytes of everything the block may send, plus framing. */
export function upperBoundTokens(block: Pick<MeasuredBlock, "content" | "name" | "toolCalls" | "toolCallId">): number {
  const calls = block.toolCalls.map((call) => `${call.id}${call.name}${call.arguments}{}`);
  const text = [block.content, block.name ?? "", block.toolCallId ?? "", ...calls].join("");
  return encoder.encode(text).length + FRAMING_BOUND * (1 + block.toolCalls.length);
}

// No framing of any profile costs more per message or per call; a blank result's filler is within it too.
const FRAMING_BOUND = 16;

/** The dearest blocks, at most five, dearest first; equal ones by id. */
export function largestOf(blocks: readonly CountedBlock[]): readonly LargestBlock[] {
  return blocks
    .toSorted((a, b) => b.tokens - a.tokens || (a.id < b.id ? -1 : 1))
    .slice(0, LARGEST_LISTED)
    .map((block) => ({ blockId: block.id, source: block.source, label: block.label, tokens: block.tokens }));
}
