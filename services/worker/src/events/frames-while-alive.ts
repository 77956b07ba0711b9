import { FramesUnavailableError, type FrameWriter } from "@shiftwork/platform";
import type { OwnLease } from "../maintenance/own-lease.ts";

/**
 * Refuses frames while this worker's own lease is over: it may have been frozen and its runs taken, and the seal that Redis
 * kept of that may be gone with it. They are stored instead, where the fence is asked.
 */
export function framesWhileAlive(frames: FrameWriter, lease: Pick<OwnLease, "isOver">): FrameWriter {
  return {
    ...frames,
    append: (batch) =>
      lease.isOver() ? Promise.reject(new FramesUnavailableError("this worker's lease is over")) : frames.append(batch),
  };
}
