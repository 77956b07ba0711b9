import { createParser, type EventSourceMessage } from "eventsource-parser";
import { classifyError } from "./classify-error.ts";
import { createCompletionReader, type CompletionReader } from "./completion-reader.ts";
import type { HttpAnswer } from "./http-call.ts";
import { isObject, parseJson } from "./json-fields.ts";
import { badResponse } from "./network-error.ts";
import type { StreamPart } from "./provider.ts";

/** Longest event held in memory, in characters. A delta is some hundred; tool arguments in one piece may be large. */
const LONGEST_EVENT = 1_048_576;

/** After `finish_reason` only usage and `[DONE]` can come; after `[DONE]` only the end of the HTTP body. */
const WAIT_AFTER_FINISH_MS = 5_000;
const WAIT_AFTER_DONE_MS = 100;

/**
 * Reads a completions event stream. The same bytes give the same parts however they are cut. Needs a positive end
 * mark, `finish_reason` or `[DONE]`; without one the stream was interrupted.
 */
export async function* readStream(answer: HttpAnswer): AsyncGenerator<StreamPart> {
  const reader = createCompletionReader();
  const events = createEventReader();
  for await (const bytes of chunksUntilEnd(answer, reader)) {
    for (const event of events.feed(bytes)) yield* partsOf(event, reader, answer);
  }
  // A last event without its blank line counts, if it is whole; half of one is what an interruption leaves.
  for (const event of events.flush().filter(isWhole)) yield* partsOf(event, reader, answer);
  yield* reader.finish();
}

/** A connection that breaks or stays open behind the end mark has nothing left to lose. */
async function* chunksUntilEnd(answer: HttpAnswer, reader: CompletionReader): AsyncGenerator<Uint8Array> {
  try {
    yield* answer.chunks;
  } catch (error) {
    if (reader.progress() === "open") throw error;
  }
}

function partsOf(event: EventSourceMessage, reader: CompletionReader, answer: HttpAnswer): readonly StreamPart[] {
  if (reader.progress() === "done" || event.data === "") return [];
  if (event.data.trim() === "[DONE]") {
    answer.waitAtMost(WAIT_AFTER_DONE_MS);
    return reader.done();
  }
  const chunk = parseJson(event.data);
  if (event.event === "error" || (isObject(chunk) && isErrorChunk(chunk))) {
    throw classifyError({ status: null, body: event.data, retryAfterMs: null });
  }
  if (!isObject(chunk)) throw badResponse("The provider's stream holds an event that is not a JSON object.");
  const parts = reader.accept(chunk);
  if (reader.progress() === "finished") answer.waitAtMost(WAIT_AFTER_FINISH_MS);
  return parts;
}

/** `{error: …}` as OpenAI sends it, `{type: "error"}` as Anthropic does, `{object: "error"}` as vLLM does. */
export function isErrorChunk(chunk: { readonly [key: string]: unknown }): boolean {
  return Boolean(chunk["error"]) || chunk["type"] === "error" || chunk["object"] === "error";
}

function isWhole(event: EventSourceMessage): boolean {
  return event.data.trim() === "[DONE]" || isObject(parseJson(event.data));
}

/** One decoder and one parser per answer: a character, a line or a field may be cut anywhere. */
function createEventReader() {
  const decoder = new TextDecoder();
  let events: EventSourceMessage[] = [];
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize: LONGEST_EVENT,
    onEvent: (event) => events.push(event),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") isTooLong = true;
    },
  });
  function take(text: string): readonly EventSourceMessage[] {
    events = [];
    if (text !== "") parser.feed(text);
    if (isTooLong) throw badResponse("The provider's stream holds an event that is too long.");
    return events;
  }
  return {
    feed: (bytes: Uint8Array) => take(decoder.decode(bytes, { stream: true })),
    flush: () => take(`${decoder.decode()}\n\n`),
  };
}
