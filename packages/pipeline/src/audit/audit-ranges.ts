import type { AuditBlock, AuditRange } from "../prompt.ts";
import type { ExcludedReason } from "../reasons.ts";

/** Contiguous left-out history messages with one reason, beyond which they become one row. */
const LONGEST_LISTED_RUN = 200;

/**
 * Replaces long runs of left-out history by ranges, so that a turn's audit grows with what is kept and not with what is
 * there. Contiguous = next to each other in the branch, with no other message of it between.
 */
export function collapseRanges(blocks: readonly AuditBlock[]): {
  readonly blocks: readonly AuditBlock[];
  readonly ranges: readonly AuditRange[];
} {
  const runs = historyRuns(blocks).filter((run) => run.length > LONGEST_LISTED_RUN);
  const collapsed = new Set(runs.flat());
  return { blocks: blocks.filter((block) => !collapsed.has(block)), ranges: runs.map(toRange) };
}

function historyRuns(blocks: readonly AuditBlock[]): readonly AuditBlock[][] {
  const branch = blocks.filter((block) => block.seq !== null).toSorted((a, b) => (a.seq ?? 0) - (b.seq ?? 0));
  const runs: AuditBlock[][] = [];
  for (const block of branch) {
    const last = runs.at(-1);
    const previous = last?.at(-1);
    if (previous !== undefined && previous.included === block.included && previous.reason === block.reason) {
      last?.push(block);
    } else runs.push([block]);
  }
  return runs.filter((run) => run[0]?.included === false);
}

function toRange(run: readonly AuditBlock[]): AuditRange {
  const counted = run.every((block) => block.tokens !== null);
  return {
    fromSeq: run[0]?.seq ?? 0,
    toSeq: run.at(-1)?.seq ?? 0,
    count: run.length,
    tokens: counted ? run.reduce((sum, block) => sum + (block.tokens ?? 0), 0) : null,
    reason: (run[0]?.reason ?? "shift_oldest") as ExcludedReason,
  };
}
