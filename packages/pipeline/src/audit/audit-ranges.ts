import type { EarlierMessages } from "../conversation.ts";
import type { AuditBlock, AuditRange } from "../prompt.ts";
import type { ExcludedReason } from "../reasons.ts";

/** Contiguous left-out history messages with one reason, beyond which they become one row. */
export const LONGEST_LISTED_RUN = 200;

/**
 * Replaces long runs of left-out history by ranges, so that a turn's audit grows with what is kept and not with what is
 * there. Contiguous = next to each other in the branch, with no other message of it between. `earlier` was never loaded
 * because it is too old to stay: it left as the oldest history, with the run it stands in.
 */
export function collapseRanges(
  blocks: readonly AuditBlock[],
  earlier: readonly EarlierMessages[] = [],
): {
  readonly blocks: readonly AuditBlock[];
  readonly ranges: readonly AuditRange[];
} {
  const runs = historyRuns(blocks, earlier).filter(({ count, unloaded }) => unloaded || count > LONGEST_LISTED_RUN);
  const collapsed = new Set(runs.flatMap((run) => run.rows));
  return { blocks: blocks.filter((block) => !collapsed.has(block)), ranges: runs.map(toRange) };
}

/** Neighbours with one reason: rows, messages that were not loaded, or both. */
interface Run extends EarlierMessages {
  readonly reason: AuditBlock["reason"];
  readonly rows: readonly AuditBlock[];
  readonly unloaded: boolean;
}

function historyRuns(blocks: readonly AuditBlock[], earlier: readonly EarlierMessages[]): readonly Run[] {
  const rows = blocks.filter((block) => block.seq !== null).map(runOfRow);
  const parts = [...rows, ...earlier.map(runOfUnloaded)].toSorted((a, b) => a.fromSeq - b.fromSeq);
  const runs: Run[] = [];
  let open: { rows: AuditBlock[]; run: Run } | null = null;
  for (const part of parts) {
    if (open !== null && open.run.reason === part.reason) {
      open.rows.push(...part.rows);
      const { run } = open;
      open.run = {
        ...run,
        toSeq: part.toSeq,
        count: run.count + part.count,
        unloaded: run.unloaded || part.unloaded,
      };
    } else {
      if (open !== null) runs.push({ ...open.run, rows: open.rows });
      open = { rows: [...part.rows], run: part };
    }
  }
  if (open !== null) runs.push({ ...open.run, rows: open.rows });
  return runs.filter((run) => run.rows.every((row) => !row.included));
}

function runOfRow(row: AuditBlock): Run {
  const seq = row.seq ?? 0;
  return { fromSeq: seq, toSeq: seq, count: 1, reason: row.reason, rows: [row], unloaded: false };
}

function runOfUnloaded(earlier: EarlierMessages): Run {
  return { ...earlier, reason: "shift_oldest", rows: [], unloaded: true };
}

function toRange({ fromSeq, toSeq, count, reason, rows, unloaded }: Run): AuditRange {
  const counted = !unloaded && rows.every((block) => block.tokens !== null);
  return {
    fromSeq,
    toSeq,
    count,
    tokens: counted ? rows.reduce((sum, block) => sum + (block.tokens ?? 0), 0) : null,
    reason: reason as ExcludedReason,
  };
}
