import type { SeenEvent } from "./read-events.ts";

/** What a reader makes of the events it got. */
export interface SeenText {
  /** The reply, resets applied. */
  readonly text: string;
  /** Ranges the server said cannot be had any more; with one, the text may have holes. */
  readonly gaps: readonly { readonly from: number; readonly to: number }[];
  /** What no sequence of events may ever look like; empty = all is well. */
  readonly faults: readonly string[];
}

/** Applies events behind number `after` in the order they came. */
export function readText(events: readonly SeenEvent[], after = 0): SeenText {
  let text = "";
  let last = after;
  const gaps: { from: number; to: number }[] = [];
  const faults: string[] = [];
  for (const event of events) {
    if (event.type === "stream.gap") {
      const { from = 0, to = 0 } = event.data;
      if (from !== last + 1) faults.push(`a gap from ${from} behind number ${last}`);
      gaps.push({ from, to });
      last = to;
      continue;
    }
    // A terminal event made from the row has no number of its own.
    const lone = event.seq === last && gaps.length > 0;
    if (event.seq !== last + 1 && !lone) faults.push(`number ${event.seq} (${event.type}) behind ${last}`);
    last = event.seq;
    if (event.type === "generation.retrying" && event.data.resetOutput === true) text = "";
    if (event.type !== "message.delta") continue;
    const { delta = "", index = 0 } = event.data;
    if (index !== text.length && after === 0 && gaps.length === 0) {
      faults.push(`a delta for place ${index} behind a text of ${text.length}`);
    }
    text += delta;
  }
  return { text, gaps, faults };
}
