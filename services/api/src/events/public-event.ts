import { decodeId, encodeId, isTerminal, type GenerationEvent, type NewEvent } from "@shiftwork/contracts";
import type { GenerationRow } from "@shiftwork/db";
import { publicProblem } from "../context/public-refs.ts";

/** One frame of an event stream (WHATWG HTML, server-sent events). */
export interface Frame {
  readonly seq: number;
  readonly event: string;
  readonly data: { readonly [key: string]: unknown };
}

/** The frame of a stored event: its data repeats type, number and generation, with public ids. */
export function eventFrame(event: GenerationEvent): Frame {
  return frame(event.generationId, event.seq, event.type, publicData(event));
}

/** Says that the events `from` to `to` cannot be had any more. */
export function gapFrame(generationId: string, from: number, to: number): Frame {
  return frame(generationId, to, "stream.gap", { from, to });
}

/** The last event of a generation whose events have expired, made from its row. */
export function terminalFrame(row: GenerationRow, seq: number): Frame | null {
  const { id, status, outputMessageId, finishReason, inputTokens, outputTokens, error } = row;
  if (!isTerminal(status)) return null;
  const usage = { inputTokens, outputTokens };
  const data = { status, messageId: outputMessageId, finishReason, usage, error };
  return eventFrame({ generationId: id, seq, type: `generation.${status}`, data });
}

/** `data` is one line: JSON escapes every line break. */
export function encodeFrame({ seq, event, data }: Frame): string {
  return `id: ${seq}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

function frame(generationId: string, seq: number, event: string, data: object): Frame {
  return { seq, event, data: { type: event, seq, generationId: encodeId("generation", generationId), ...data } };
}

function publicData(event: NewEvent): object {
  switch (event.type) {
    case "generation.completed":
    case "generation.failed":
    case "generation.cancelled": {
      const { messageId, error } = event.data;
      return {
        ...event.data,
        messageId: messageId === null ? null : encodeId("message", messageId),
        error: error === null ? null : publicProblem(error),
      };
    }
    case "generation.started":
      return { ...event.data, worker: publicWorker(event.data.worker) };
    case "generation.queued":
    case "context.prepared":
    case "message.delta":
    case "message.reasoning.delta":
    case "tool.call":
    case "generation.retrying":
    case "usage.updated":
      return event.data;
  }
}

function publicWorker(worker: string): string {
  const id = encodeId("worker", worker);
  return decodeId("worker", id) === null ? worker : id;
}
