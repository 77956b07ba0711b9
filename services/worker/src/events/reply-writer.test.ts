import type { NewEvent } from "@shiftwork/contracts";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { createReplyWriter } from "./reply-writer.ts";

function collect(options: { frameMs?: number; frameBytes?: number; append?: () => Promise<boolean> } = {}) {
  const batches: (readonly NewEvent[])[] = [];
  const onBroken = vi.fn<(error: Error | null) => void>();
  const writer = createReplyWriter({
    frameMs: options.frameMs ?? 1_000,
    frameBytes: options.frameBytes ?? 256,
    append: async (events) => {
      batches.push(events);
      return (await options.append?.()) ?? true;
    },
    onBroken,
  });
  return { batches, writer, onBroken };
}

const deltas = (batches: readonly (readonly NewEvent[])[]) =>
  batches.flat().flatMap((event) => (event.type === "message.delta" ? [event.data] : []));

describe("a reply writer", () => {
  it("sends the first token at once and lets later ones wait for company", async () => {
    const { batches, writer } = collect();
    writer.writeText("Hel");
    writer.writeText("lo ");
    writer.writeText("there");
    expect(writer.text).toBe("Hello there");
    await writer.settle();
    expect(deltas(batches)).toEqual([
      { delta: "Hel", index: 0 },
      { delta: "lo there", index: 3 },
    ]);
  });

  it("lets reasoning wait for company like text, each in frames of its own and in order", async () => {
    const { batches, writer } = collect();
    for (const delta of ["Let ", "me ", "think."]) writer.writeReasoning(delta);
    writer.writeText("Yes");
    writer.writeText(", ");
    writer.writeReasoning("But ");
    writer.writeReasoning("then?");
    writer.writeText("no.");
    await writer.settle();
    expect(writer.text).toBe("Yes, no.");
    expect(batches.flat()).toEqual([
      { type: "message.reasoning.delta", data: { delta: "Let me think." } },
      { type: "message.delta", data: { delta: "Yes", index: 0 } },
      { type: "message.delta", data: { delta: ", ", index: 3 } },
      { type: "message.reasoning.delta", data: { delta: "But then?" } },
      { type: "message.delta", data: { delta: "no.", index: 5 } },
    ]);
  });

  it("sends a frame of reasoning that has grown large without waiting", async () => {
    const { batches, writer } = collect({ frameBytes: 4 });
    for (const delta of ["a", "bcde", "f"]) writer.writeReasoning(delta);
    await writer.settle();
    expect(batches.flat().map(({ data }) => data)).toEqual([{ delta: "abcde" }, { delta: "f" }]);
  });

  it("sends a frame that has grown large without waiting", async () => {
    const { batches, writer } = collect({ frameBytes: 4 });
    writer.writeText("a");
    writer.writeText("bcde");
    writer.writeText("f");
    await writer.settle();
    expect(deltas(batches).map((data) => data.delta)).toEqual(["a", "bcde", "f"]);
  });

  it("keeps other events where they stood between the deltas", async () => {
    const { batches, writer } = collect();
    writer.writeText("a");
    writer.writeText("b");
    writer.write({ type: "usage.updated", data: { inputTokens: 1, outputTokens: 2 } });
    writer.writeText("c");
    await writer.settle();
    expect(batches.flat().map((event) => event.type)).toEqual([
      "message.delta",
      "message.delta",
      "usage.updated",
      "message.delta",
    ]);
  });

  it("writes nothing more after a batch was refused, and says so once", async () => {
    const { batches, writer, onBroken } = collect({ frameBytes: 1, append: () => Promise.resolve(false) });
    writer.writeText("a");
    writer.writeText("b");
    await writer.settle();
    await writer.settle();
    expect(batches).toHaveLength(1);
    expect(onBroken.mock.calls).toEqual([[null]]);
  });

  it("joins to the text whatever the pieces and frames: every delta starts where the last one ended", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: "grapheme", minLength: 1 })),
        fc.integer({ min: 1, max: 20 }),
        async (pieces, frameBytes) => {
          const { batches, writer } = collect({ frameBytes });
          for (const piece of pieces) writer.writeText(piece);
          await writer.settle();
          let text = "";
          for (const { delta, index } of deltas(batches)) {
            expect(index).toBe(text.length);
            text += delta;
          }
          expect(text).toBe(pieces.join(""));
          expect(writer.text).toBe(text);
        },
      ),
      { seed: 20, numRuns: 200 },
    );
  });

  it("keeps text and reasoning in the order they came, whatever the frames", async () => {
    const pieces = fc.array(fc.record({ isText: fc.boolean(), delta: fc.string({ minLength: 1, maxLength: 6 }) }));
    const inOrder = (kinds: readonly { isText: boolean; delta: string }[]) =>
      kinds.flatMap(({ isText, delta }) => Array.from(delta, (letter) => `${isText ? "text" : "reasoning"} ${letter}`));
    await fc.assert(
      fc.asyncProperty(pieces, fc.integer({ min: 1, max: 20 }), async (written, frameBytes) => {
        const { batches, writer } = collect({ frameBytes });
        for (const { isText, delta } of written) (isText ? writer.writeText : writer.writeReasoning)(delta);
        await writer.settle();
        const told = batches.flat().flatMap(({ type, data }) => {
          if (type !== "message.delta" && type !== "message.reasoning.delta") return [];
          return [{ isText: type === "message.delta", delta: data.delta }];
        });
        expect(inOrder(told)).toEqual(inOrder(written));
      }),
      { seed: 21, numRuns: 200 },
    );
  });
});
