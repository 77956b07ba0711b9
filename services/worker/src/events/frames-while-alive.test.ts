import { FramesUnavailableError, type FrameBatch, type FrameWriter } from "@shiftwork/platform";
import { expect, it } from "vitest";
import { framesWhileAlive } from "./frames-while-alive.ts";

it("takes frames while the worker's lease runs, and none from when it is over until it is renewed", async () => {
  const taken: FrameBatch[] = [];
  const frames: FrameWriter = {
    append: async (batch) => taken.push(batch) > 0,
    seal: async () => ({ events: [], isComplete: true }),
    close: () => {},
  };
  let isOver = false;
  const guarded = framesWhileAlive(frames, { isOver: () => isOver });
  const batch: FrameBatch = { tenantId: "t", generationId: "g", fence: 1, afterSeq: 3, events: [] };
  expect(await guarded.append(batch)).toBe(true);
  isOver = true;
  await expect(guarded.append(batch)).rejects.toThrow(FramesUnavailableError);
  isOver = false;
  expect(await guarded.append(batch)).toBe(true);
  expect(taken).toHaveLength(2);
});
