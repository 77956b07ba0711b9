import type { TokenizerFacts } from "@shiftwork/pipeline";
import { z } from "zod";
import type { ErrorCode } from "./error-codes.ts";

/** A problem as it travels inside events and generation objects: no upstream text, no URL, no header. */
export interface Problem {
  readonly code: ErrorCode;
  readonly title: string;
  readonly detail: string;
  readonly retryable: boolean;
  readonly origin: "client" | "provider" | "platform";
  readonly params: { readonly [key: string]: unknown };
}

export const TERMINAL_STATUSES = ["completed", "failed", "cancelled"] as const;
export type TerminalStatus = (typeof TERMINAL_STATUSES)[number];

/** Status as stored. `cancelling` is derived for readers: running with a cancel accepted. */
export const GENERATION_STATUSES = ["queued", "running", ...TERMINAL_STATUSES] as const;
export type GenerationStatus = (typeof GENERATION_STATUSES)[number];

export function isTerminal(status: GenerationStatus): status is TerminalStatus {
  return status === "completed" || status === "failed" || status === "cancelled";
}

/** Data of each live event, by name. `seq`, `type` and `generationId` are added by the log. Closed and append-only. */
export interface EventData {
  "generation.queued": { readonly position: number | null };
  "generation.started": { readonly attempt: number; readonly worker: string };
  "context.prepared": {
    readonly strategy: string;
    readonly tokenizer: TokenizerFacts;
    readonly contextLimit: number;
    readonly reservedForReply: number;
    readonly promptTokens: number;
    readonly included: number;
    readonly excluded: number;
    readonly topExclusions: readonly { readonly reason: string; readonly count: number }[];
  };
  /** `index` = offset of `delta` in the reply, in UTF-16 code units. */
  "message.delta": { readonly delta: string; readonly index: number };
  "message.reasoning.delta": { readonly delta: string };
  "tool.call": { readonly index: number; readonly id: string; readonly name: string; readonly argumentsDelta: string };
  "generation.retrying": {
    readonly attempt: number;
    readonly errorCode: ErrorCode | null;
    readonly nextAttemptAt: string | null;
    /** Throw away what was streamed; the reply starts again at index 0. */
    readonly resetOutput: boolean;
  };
  "usage.updated": { readonly inputTokens: number | null; readonly outputTokens: number | null };
  "generation.completed": TerminalData;
  "generation.failed": TerminalData;
  "generation.cancelled": TerminalData;
}

export interface TerminalData {
  readonly status: TerminalStatus;
  readonly messageId: string | null;
  readonly finishReason: string | null;
  readonly usage: { readonly inputTokens: number | null; readonly outputTokens: number | null };
  readonly error: Problem | null;
}

export type EventType = keyof EventData;
export type NewEvent = { [Type in EventType]: { readonly type: Type; readonly data: EventData[Type] } }[EventType];

/** An event as it is stored and sent. `seq` starts at 1 and has no holes within one generation. */
export type GenerationEvent = NewEvent & { readonly generationId: string; readonly seq: number };

export const TERMINAL_EVENT_TYPES = ["generation.completed", "generation.failed", "generation.cancelled"] as const;

export function isTerminalEvent(type: EventType): boolean {
  return (TERMINAL_EVENT_TYPES as readonly string[]).includes(type);
}

/** One SSE data line, as clients read it. Unknown names must be ignored by clients. */
export const StreamEvent = z.looseObject({ type: z.string(), seq: z.number().int(), generationId: z.string() });
export type StreamEvent = z.infer<typeof StreamEvent>;
