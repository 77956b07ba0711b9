import type { EventData, EventType, GenerationEvent } from "@shiftwork/contracts";
import { NO_USAGE, numberBeyond, readEvents, type HeldRun, type Tx, type Usage } from "@shiftwork/db";
import { FramesUnavailableError, mergeEvents, type FrameWriter, type SealedFrames } from "@shiftwork/platform";
import { addUsage } from "../generation/add-usage.ts";

/** What a lost run has streamed since its last reset. */
export interface Streamed {
  /** What may be stored of it: all of it, or nothing when a part is lost. */
  readonly text: string;
  /** Readers may have text. */
  readonly hasText: boolean;
  /** What its last attempt's requests cost, as far as their provider reported it. */
  readonly spent: Usage;
  /** The number its successor's events go on from; not set = that of the last one stored. */
  readonly afterSeq?: number;
}

export const NOTHING_STREAMED: Streamed = { text: "", hasText: false, spent: NO_USAGE };

/** The stored events behind which nothing has been streamed yet. */
const BEFORE_THE_REPLY: readonly EventType[] = ["generation.queued", "generation.started", "context.prepared"];

/**
 * Reads what a run has streamed, and lets it stream nothing more. Call under the run's lock. When frames may be lost, or
 * Redis is away, numbers go on far behind them: readers, whatever they have, are told of the gap.
 */
export async function readStreamed(tx: Tx, run: HeldRun, frames: FrameWriter | null): Promise<Streamed> {
  const stored = await readEvents(tx, run.tenantId, run.generationId, 0, Number.MAX_SAFE_INTEGER);
  if (frames === null) return streamedIn(stored);
  const last = stored.at(-1);
  const sealed = await sealFrames(run, frames);
  // A refused request may have told its cost, and then the prompt was prepared once more. Frames behind that are the reply.
  const hasFrames = sealed.events.some(({ seq }) => seq > (last?.seq ?? 0));
  if (last !== undefined && BEFORE_THE_REPLY.includes(last.type) && !hasFrames)
    return { ...NOTHING_STREAMED, spent: spentIn(stored) };
  const events = mergeEvents(stored, sealed.events);
  // Without stored events the database has lost some, and with them maybe frames that Redis did not take.
  if (!sealed.isComplete || last === undefined)
    return { text: "", hasText: true, spent: spentIn(events), afterSeq: numberBeyond(run.fence) };
  return { ...streamedIn(events), afterSeq: events.at(-1)?.seq ?? last.seq };
}

async function sealFrames(run: HeldRun, frames: FrameWriter): Promise<SealedFrames> {
  try {
    return await frames.seal(run);
  } catch (error) {
    // What is still written there stands before the numbers to come.
    if (error instanceof FramesUnavailableError) return { events: [], isComplete: false };
    throw error;
  }
}

function streamedIn(events: readonly GenerationEvent[]): Streamed {
  const deltas = deltasSinceReset(events);
  return { text: joined(deltas), hasText: deltas.length > 0, spent: spentIn(events) };
}

type Delta = EventData["message.delta"];

function deltasSinceReset(events: readonly GenerationEvent[]): readonly Delta[] {
  const reset = events.findLastIndex(({ type, data }) => type === "generation.retrying" && data.resetOutput);
  return events.slice(reset + 1).flatMap(({ type, data }) => (type === "message.delta" ? [data] : []));
}

/** Nothing when one of them does not start where the one before it ended: a part of a text is not kept. */
function joined(deltas: readonly Delta[]): string {
  let text = "";
  for (const { delta, index } of deltas) {
    if (index !== text.length) return "";
    text += delta;
  }
  return text;
}

/** The last report of each request of the last attempt, together. */
function spentIn(events: readonly GenerationEvent[]): Usage {
  const started = events.findLastIndex(({ type }) => type === "generation.started");
  let [spent, request] = [NO_USAGE, NO_USAGE];
  for (const { type, data } of events.slice(started + 1)) {
    if (type === "usage.updated") request = { ...NO_USAGE, ...data };
    if (type === "generation.retrying") [spent, request] = [addUsage(spent, request), NO_USAGE];
  }
  return addUsage(spent, request);
}
