import type { GenerationEvent, NewEvent } from "@shiftwork/contracts";

/** Where frames stand, and how readers hear of them. `name` keeps installations on one server apart. */
export interface FrameKeys {
  /** A stream: one entry per event, its id the event's number. */
  stream(tenantId: string, generationId: string): string;
  /** The highest fence that may not append any more. */
  seal(tenantId: string, generationId: string): string;
  /** The payload is the generation's id. */
  readonly channel: string;
}

/** The braces keep both keys of a generation in one slot of a cluster. A stranger's tenant names another key. */
export function frameKeys(name: string): FrameKeys {
  const prefix = `${name}:events`;
  return {
    stream: (tenantId, generationId) => `${prefix}:{${tenantId}:${generationId}}`,
    seal: (tenantId, generationId) => `${prefix}:{${tenantId}:${generationId}}:seal`,
    channel: prefix,
  };
}

/** A seal outlasts every frozen process that could still write; it is a number. */
export const SEAL_MS = 86_400_000;

/** The seal of a generation whose chat or reply was deleted: no attempt's fence is higher. */
export const SEALED_FOR_GOOD = 2 ** 31 - 1;

/** An entry's id in a stream, where its second part is never used. */
export function entryId(seq: number): string {
  return `${seq}-0`;
}

export function encodeFrame({ type, data }: NewEvent): string {
  return JSON.stringify({ type, data });
}

/** As `XRANGE` returns it. Its fields are `event`, `on`: the server that took it, and `fence`: the attempt it is of. */
export type FrameEntry = readonly [id: string, fields: readonly string[]];

export function decodeFrames(generationId: string, entries: readonly FrameEntry[]): readonly GenerationEvent[] {
  return entries.map(([id, [, frame = ""]]) => {
    const event = JSON.parse(frame) as NewEvent;
    return { ...event, generationId, seq: Number.parseInt(id, 10) };
  });
}

export function serverOf([, [, , , server = ""]]: FrameEntry): string {
  return server;
}

/** 0 where an earlier version wrote it: nothing shows then that a frame is of the attempt that is asked for. */
export function fenceOf([, [, , , , , fence = "0"]]: FrameEntry): number {
  return Number.parseInt(fence, 10);
}
