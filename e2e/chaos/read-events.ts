import { setTimeout as delay } from "node:timers/promises";
import type { ApiClient } from "./api-client.ts";

/** One frame as a reader got it. */
export interface SeenEvent {
  readonly seq: number;
  readonly type: string;
  readonly data: {
    readonly delta?: string;
    readonly index?: number;
    readonly resetOutput?: boolean;
    readonly status?: string;
    readonly from?: number;
    readonly to?: number;
  };
}

export interface ReadOptions {
  readonly after?: number;
  /** Leaves after so many events of a connection, once per entry, and comes back with Last-Event-ID. */
  readonly dropsAfter?: readonly number[];
  /** Gives up then, in `performance.now()` milliseconds. */
  readonly giveUpAt: number;
  readonly onEvent?: (event: SeenEvent) => void;
}

const RECONNECT_MS = 50;
/** The server says `: ping` every 10 s: a connection that is silent for longer is dead. */
const SILENCE_MS = 12_000;

/** Reads a generation's events until the terminal one, over as many connections as it takes. */
export async function readEvents(
  api: ApiClient,
  generationId: string,
  { after = 0, dropsAfter = [], giveUpAt, onEvent }: ReadOptions,
): Promise<readonly SeenEvent[]> {
  const seen: SeenEvent[] = [];
  const drops = [...dropsAfter];
  while (performance.now() < giveUpAt) {
    let left = drops.shift() ?? Infinity;
    const last = seen.at(-1)?.seq ?? after;
    try {
      for await (const event of connection(api, generationId, last)) {
        seen.push(event);
        onEvent?.(event);
        if (isTerminalType(event.type)) return seen;
        left -= 1;
        if (left <= 0) break;
      }
    } catch {
      // Refused, broken off or silent: the next connection goes on behind the last event.
    }
    await delay(RECONNECT_MS);
  }
  return seen;
}

export function isTerminalType(type: string): boolean {
  return type === "generation.completed" || type === "generation.failed" || type === "generation.cancelled";
}

async function* connection(api: ApiClient, generationId: string, last: number): AsyncGenerator<SeenEvent> {
  const leave = new AbortController();
  const alarm = setTimeout(() => leave.abort(), SILENCE_MS);
  try {
    const headers: Record<string, string> = last > 0 ? { "last-event-id": String(last) } : {};
    const response = await api.openStream(`/generations/${generationId}/events`, headers, leave.signal);
    if (response.status !== 200 || response.body === null) throw new Error(`the stream answered ${response.status}`);
    const decoder = new TextDecoder();
    let rest = "";
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      alarm.refresh();
      const frames = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
      rest = frames.pop() ?? "";
      for (const frame of frames) {
        const data = /^data: (.*)$/m.exec(frame)?.[1];
        if (data !== undefined) yield toEvent(data);
      }
    }
  } finally {
    clearTimeout(alarm);
    leave.abort();
  }
}

function toEvent(line: string): SeenEvent {
  const data = JSON.parse(line) as SeenEvent["data"] & { readonly seq: number; readonly type: string };
  return { seq: data.seq, type: data.type, data };
}
