import { wait, type Plan } from "./plan.ts";
import type { Reading } from "./read-messages.ts";

/** What the walk left: counts by index, and the index before which ordinary history cannot stay. */
export interface Walked {
  readonly tokens: ReadonlyMap<number, number>;
  /** Ordinary history and optional call groups that begin before it leave whatever the strategy does. */
  readonly border: number;
  /** Calls and results that may not leave. */
  readonly isLockedGroup: (head: number) => boolean;
}

/**
 * Counts what is protected or set apart, then history from the newest message back until the budget is full: only what
 * can stay has to be counted. The first group that does not fit is counted too. `budgetTokens: Infinity` counts all.
 */
export function* suffixWalk(
  length: number,
  reading: Reading,
  cost: (index: number) => number | Promise<number>,
  limits: { readonly budgetTokens: number; readonly overheadTokens: number },
  leavesAnyway: (index: number) => boolean,
): Plan<Walked> {
  const tokens = new Map<number, number>();
  const newestHead = newestOpenHead(reading);
  const isLockedGroup = (head: number): boolean =>
    head === newestHead || (reading.callGroups.get(head) ?? []).some((index) => reading.isLocked(index));
  const count = function* (index: number): Plan<number> {
    const given = cost(index);
    const sum = typeof given === "number" ? given : yield* wait(given);
    tokens.set(index, sum);
    return sum;
  };
  let total = limits.overheadTokens;
  for (let index = 0; index < length; index += 1) {
    if (reading.isOrdinary(index) || reading.broken.has(index)) continue;
    const head = reading.headOf.get(index);
    if (head !== undefined && !isLockedGroup(head)) continue;
    const sum = yield* count(index);
    if (reading.isLocked(index) || head !== undefined) total += sum;
  }
  let border = length;
  while (border > 0 && total <= limits.budgetTokens) {
    border -= 1;
    const members = optionalAt(border, reading, isLockedGroup);
    for (const index of members) {
      const sum = yield* count(index);
      if (!members.some(leavesAnyway)) total += sum;
    }
  }
  return { tokens, border, isLockedGroup };
}

function newestOpenHead({ inputIndex, callGroups, broken }: Reading): number {
  if (inputIndex === -1) return -1;
  const heads = [...callGroups.keys()].filter((head) => head > inputIndex && !broken.has(head));
  return Math.max(-1, ...heads);
}

/** The group of history that begins at an index and may leave; empty = none does. */
function optionalAt(
  index: number,
  { isOrdinary, broken, callGroups }: Reading,
  isLockedGroup: (head: number) => boolean,
): readonly number[] {
  if (broken.has(index)) return [];
  const group = callGroups.get(index);
  if (group !== undefined) return isLockedGroup(index) ? [] : group;
  return isOrdinary(index) ? [index] : [];
}
