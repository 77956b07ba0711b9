import { setImmediate, setTimeout } from "node:timers/promises";
import { isChatRequest, type ChatRequestMessage, type ProviderRequest } from "@shiftwork/pipeline";
import type { Provider, StreamCall, StreamPart } from "./provider.ts";

/** Words `/repeat` may ask for. */
const MOST_REPEATED_WORDS = 2_000;
/** Of the last user message this much is repeated, in characters. */
const ECHO_LIMIT = 2_000;
const REPEAT = /(?:^|\s)\/repeat\s+(\d{1,9})(?!\S)/;

export interface EchoOptions {
  /** Pause before each word, in milliseconds. */
  readonly wordDelayMs: number;
}

/**
 * The built-in provider: no network, no model, the same reply for the same request, streamed word by word. It says what
 * it is, how many messages it received, and repeats the last user message. A last user message with `/repeat N` gets N
 * numbered words instead (at most 2,000), for trying out long streams and cancel.
 * It has no tokenizer: usage is not reported, `max_tokens` is not applied. Target and time-outs are ignored.
 */
export function createEcho(options: EchoOptions): Provider {
  async function* stream(call: StreamCall): AsyncGenerator<StreamPart> {
    for (const word of wordsOf(echoReply(call.request))) {
      await pause(options.wordDelayMs, call.signal);
      yield { type: "text", delta: word };
    }
    call.signal.throwIfAborted();
    yield { type: "end", finishReason: "stop" };
  }
  return { kind: "echo", stream };
}

function echoReply(request: ProviderRequest): string {
  const messages = received(request);
  const said = messages.findLast((message) => message.role === "user")?.content ?? "";
  const asked = REPEAT.exec(said)?.[1];
  if (asked !== undefined) return repeatedWords(Math.min(Number(asked), MOST_REPEATED_WORDS));
  const count = messages.length;
  const size = `It received ${count} ${count === 1 ? "message" : "messages"}`;
  const last =
    said.trim() === "" ? "none of them from the user." : `the last one from the user says: ${cut(said.trim())}`;
  return `This is the echo provider: no model was called. ${size}; ${last}`;
}

/** A prompt in one string counts as one message of the user's. */
function received(request: ProviderRequest): readonly ChatRequestMessage[] {
  return isChatRequest(request) ? request.messages : [{ role: "user", content: request.prompt }];
}

function repeatedWords(count: number): string {
  const words = Array.from({ length: count }, (_, index) => `word-${index + 1}`);
  return words.length === 0 ? "Nothing to repeat." : words.join(" ");
}

/** Cuts between characters, never inside one. */
function cut(text: string): string {
  return text.length <= ECHO_LIMIT ? text : `${text.slice(0, ECHO_LIMIT).replace(/[\uD800-\uDBFF]$/, "")}…`;
}

/** Each word with the white space behind it, so that the deltas joined are the reply. */
function wordsOf(reply: string): readonly string[] {
  return reply.match(/\S+\s*/g) ?? [];
}

/** Throws `signal.reason` as soon as `signal` aborts. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const wait = ms > 0 ? setTimeout(ms, undefined, { signal }) : setImmediate(undefined, { signal });
  await wait.catch(() => signal.throwIfAborted());
}
