import { isTerminal, isTerminalEvent, type GenerationEvent } from "@shiftwork/contracts";
import { findGeneration, isEndInLog, withTenant, type GenerationRow } from "@shiftwork/db";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ServerResponse } from "node:http";
import type { ApiDependencies } from "../api-dependencies.ts";
import { encodeFrame, eventFrame, gapFrame, terminalFrame, type Frame } from "./public-event.ts";
import { createSignal, type Signal } from "./signal.ts";

/** How long clients wait before they reconnect, in milliseconds; the first frame says so. */
const RETRY_MS = 2_000;
const HEARTBEAT_MS = 10_000;
/** Events read at once: what a reader that takes nothing holds in memory. */
const BATCH = 50;
/** A reader that takes nothing for this long is dropped; it can resume from where it was. */
const SLOW_READER_MS = 30_000;

export interface StreamRequest {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly tenantId: string;
  readonly generationId: string;
  /** Number of the last event the client has; 0 = all. */
  readonly after: number;
  /** Added to the response's headers. */
  readonly headers?: { readonly [name: string]: string };
}

/**
 * Streams a generation's events until its terminal one, the client's leaving, or a drain. Takes the socket over from
 * Fastify; resolves when the stream has ended, whatever ended it. The log is the buffer: a slow reader holds up itself.
 */
export async function streamEvents(deps: ApiDependencies, stream: StreamRequest): Promise<void> {
  const { request, reply, generationId } = stream;
  reply.hijack();
  const wake = createSignal();
  const raw = reply.raw;
  const unsubscribe = deps.eventLog.subscribe(generationId, wake.raise);
  const unregister = deps.streams.add(() => wake.close("drain"));
  raw.once("close", () => wake.close("gone"));
  raw.on("error", () => wake.close("gone"));
  try {
    openStream(stream);
    await sendEvents(deps, stream, wake);
    if (wake.closed === "drain") raw.write(`retry: ${RETRY_MS}\n\n`);
  } catch (error) {
    request.log.warn({ err: error }, "an event stream broke off");
  } finally {
    unsubscribe();
    unregister();
    raw.end();
  }
}

function openStream({ reply, headers }: StreamRequest): void {
  reply.raw.writeHead(200, {
    ...(reply.getHeaders() as { [name: string]: string }),
    ...headers,
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
  });
  reply.raw.write(`retry: ${RETRY_MS}\n\n`);
}

async function sendEvents(deps: ApiDependencies, stream: StreamRequest, wake: Signal): Promise<void> {
  const heartbeatMs = deps.heartbeatMs ?? HEARTBEAT_MS;
  let position: Position = { after: stream.after, ended: false };
  while (wake.closed === null) {
    // The row is read first: its terminal event commits with it, so events read afterwards include that.
    const row = await readRow(deps, stream);
    position = await sendAvailable(deps, stream, wake, position, false);
    if (position.ended || wake.closed !== null) return;
    if (row === null || isTerminal(row.status)) return sendEnding(deps, stream, wake, row, position.after);
    position = await followLive(deps, stream, wake, position, heartbeatMs);
    if (position.ended) return;
    if (wake.closed === null) await send(stream.reply.raw, ": ping\n\n", wake);
  }
}

interface Position {
  readonly after: number;
  readonly ended: boolean;
}

/** Sends what comes in until a whole heartbeat passes in silence. */
async function followLive(
  deps: ApiDependencies,
  stream: StreamRequest,
  wake: Signal,
  start: Position,
  heartbeatMs: number,
): Promise<Position> {
  let position = start;
  while (await wake.wait(heartbeatMs)) {
    position = await sendAvailable(deps, stream, wake, position, true);
    if (position.ended || wake.closed !== null) break;
  }
  return position;
}

async function sendAvailable(
  { eventLog }: ApiDependencies,
  { tenantId, generationId, reply }: StreamRequest,
  wake: Signal,
  start: Position,
  signalled: boolean,
): Promise<Position> {
  let { after } = start;
  while (wake.closed === null) {
    const events = await eventLog.read(tenantId, generationId, after, BATCH, { signalled });
    if (events.length === 0) break;
    const terminal = events.findIndex((event) => isTerminalEvent(event.type));
    const sent = terminal === -1 ? events : events.slice(0, terminal + 1);
    await sendFrames(reply.raw, framesOf(generationId, sent, after), wake);
    after = sent.at(-1)?.seq ?? after;
    if (terminal !== -1) return { after, ended: true };
    if (events.length < BATCH) break;
  }
  return { after, ended: false };
}

/** Every number that is missing behind `after` is told before the event that follows it. */
function framesOf(generationId: string, events: readonly GenerationEvent[], after: number): readonly Frame[] {
  return events.flatMap((event, at) => {
    const expected = (events[at - 1]?.seq ?? after) + 1;
    const gap = event.seq > expected ? [gapFrame(generationId, expected, event.seq - 1)] : [];
    return [...gap, eventFrame(event)];
  });
}

/** The generation has ended and nothing is left to read: the client has it all, or the end has expired or was lost. */
async function sendEnding(
  { db }: ApiDependencies,
  { tenantId, generationId, reply }: StreamRequest,
  wake: Signal,
  row: GenerationRow | null,
  after: number,
): Promise<void> {
  if (row === null || (await withTenant(db, tenantId, (tx) => isEndInLog(tx, tenantId, generationId)))) return;
  const ending = terminalFrame(row, after + 2);
  if (ending) await sendFrames(reply.raw, [gapFrame(generationId, after + 1, after + 1), ending], wake);
}

function readRow({ db }: ApiDependencies, { tenantId, generationId }: StreamRequest): Promise<GenerationRow | null> {
  return withTenant(db, tenantId, (tx) => findGeneration(tx, tenantId, generationId));
}

function sendFrames(raw: ServerResponse, frames: readonly Frame[], wake: Signal): Promise<void> {
  return send(raw, frames.map(encodeFrame).join(""), wake);
}

/** Writes, and waits until the socket has taken it; a reader that does not take it in time is dropped. */
async function send(raw: ServerResponse, text: string, wake: Signal): Promise<void> {
  if (wake.closed !== null || raw.write(text)) return;
  const drained = createSignal();
  const stop = wake.onClose(() => drained.close("gone"));
  raw.once("drain", drained.raise);
  const taken = await drained.wait(SLOW_READER_MS);
  raw.off("drain", drained.raise);
  stop();
  if (!taken) raw.destroy();
}
