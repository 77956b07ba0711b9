import type { GenerationEvent } from "@shiftwork/contracts";

/**
 * Events of one generation from two stores, by number; one that stands in both comes once. It is the same there, unless
 * the frames lost a seal and then took some of a dead attempt: so what is stored goes first, and stands.
 */
export function mergeEvents(
  first: readonly GenerationEvent[],
  second: readonly GenerationEvent[],
): readonly GenerationEvent[] {
  if (first.length === 0) return second;
  if (second.length === 0) return first;
  const bySeq = new Map([...second, ...first].map((event) => [event.seq, event]));
  return [...bySeq.values()].sort((a, b) => a.seq - b.seq);
}

/** Whether a number is missing between `after` and the last event. */
export function hasHole(events: readonly GenerationEvent[], after: number): boolean {
  return (events.at(-1)?.seq ?? after) !== after + events.length;
}
