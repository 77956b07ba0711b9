import type { GenerationEvent } from "@shiftwork/contracts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hasHole, mergeEvents } from "./merge-events.ts";

const event = (seq: number): GenerationEvent => ({
  type: "message.delta",
  data: { delta: `word ${seq}`, index: seq },
  generationId: "g",
  seq,
});
const numbers = fc.uniqueArray(fc.integer({ min: 1, max: 60 })).map((seqs) => seqs.sort((a, b) => a - b));

describe("events of two stores", () => {
  it("are one list in order, each event once, whichever store has it", () => {
    fc.assert(
      fc.property(numbers, numbers, (first, second) => {
        const merged = mergeEvents(first.map(event), second.map(event));
        const all = [...new Set([...first, ...second])].sort((a, b) => a - b);
        expect(merged).toEqual(all.map(event));
      }),
      { seed: 8 },
    );
  });

  it("are the first store's where both have a number", () => {
    fc.assert(
      fc.property(numbers, numbers, (first, second) => {
        const others = second.map((seq): GenerationEvent => ({ ...event(seq), generationId: "other" }));
        const merged = mergeEvents(first.map(event), others);
        expect(merged.filter(({ generationId }) => generationId === "g")).toEqual(first.map(event));
      }),
      { seed: 10 },
    );
  });

  it("have a hole exactly when a number behind the reader's place is missing before the last", () => {
    fc.assert(
      fc.property(numbers, fc.integer({ min: 0, max: 60 }), (seqs, after) => {
        const events = seqs.filter((seq) => seq > after).map(event);
        const last = events.at(-1)?.seq ?? after;
        const missing = Array.from({ length: last - after }, (_, n) => after + 1 + n).filter((n) => !seqs.includes(n));
        expect(hasHole(events, after)).toBe(missing.length > 0);
      }),
      { seed: 9 },
    );
  });
});
