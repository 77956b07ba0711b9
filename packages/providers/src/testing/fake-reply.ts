import type { ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import type { Gate } from "./gate.ts";

/** What the fake server does with one request. Everything a provider was ever seen to do wrong is one of these. */
export type FakeReply =
  | {
      /** Streams the words and ends properly. */
      readonly kind: "words";
      readonly words: readonly string[];
      /** Hold each word, and the end, until the request's `next()` or `finish()`. Default false. */
      readonly gated?: boolean;
      /** Streamed as `reasoning_content` before the words. */
      readonly reasoning?: readonly string[];
      /** Default `"stop"`. */
      readonly finishReason?: string;
      /** Sent when the request asks for it; `null` = never. Default 10 in, one out per word. */
      readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null;
      /** Send the bytes in pieces of this size. Default: one piece per event. */
      readonly splitBytes?: number;
      /** Pause before each event, in milliseconds; for benchmarks and demos. Default 0. */
      readonly wordDelayMs?: number;
    }
  /** Streams these chunk objects as they are, then `[DONE]` unless `done` is false. */
  | { readonly kind: "chunks"; readonly chunks: readonly object[]; readonly done?: boolean; readonly gated?: boolean }
  /** Accepts the request and never answers. */
  | { readonly kind: "hang-before-headers" }
  /** Sends the headers and then nothing. */
  | { readonly kind: "hang-before-first-token" }
  /** Streams the words, then nothing, without closing. */
  | { readonly kind: "hang-mid-stream"; readonly words: readonly string[] }
  /** Streams the words, then destroys the connection. */
  | { readonly kind: "cut"; readonly words: readonly string[] }
  /** Streams the words, then ends the body properly, but without an end mark. */
  | { readonly kind: "no-end-mark"; readonly words: readonly string[] }
  /** An HTTP error. */
  | {
      readonly kind: "error";
      readonly status: number;
      readonly body?: string | object;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** An error object inside a stream that began with 200. */
  | { readonly kind: "stream-error"; readonly words?: readonly string[]; readonly error: unknown }
  /** Raw pieces, each written on its own; `keepOpen` leaves the body without its end. */
  | {
      readonly kind: "bytes";
      readonly pieces: readonly Uint8Array[];
      readonly contentType?: string;
      readonly keepOpen?: boolean;
    }
  /** One JSON document with 200. */
  | { readonly kind: "json"; readonly body: unknown };

/** What a reply needs to know of its request. */
export interface ReplyContext {
  readonly response: ServerResponse;
  readonly gate: Gate;
  readonly model: string;
  readonly wantsUsage: boolean;
  /** Asked for a text completion: words come as `choices[].text`. */
  readonly isText: boolean;
}

/** Plays one reply. Settles when the fake has nothing more to send. */
export async function playReply(reply: FakeReply, context: ReplyContext): Promise<void> {
  const { response } = context;
  switch (reply.kind) {
    case "hang-before-headers":
      return;
    case "hang-before-first-token":
      startStream(response);
      return;
    case "hang-mid-stream":
      await sendEvents(
        context,
        reply.words.map((word) => wordChunk(word, context)),
      );
      return;
    case "cut":
      await sendEvents(
        context,
        reply.words.map((word) => wordChunk(word, context)),
      );
      response.destroy();
      return;
    case "no-end-mark":
      await sendEvents(
        context,
        reply.words.map((word) => wordChunk(word, context)),
      );
      break;
    case "error":
      response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
      response.write(typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body ?? {}));
      break;
    case "stream-error":
      await sendEvents(context, [
        ...(reply.words ?? []).map((word) => wordChunk(word, context)),
        { error: reply.error },
      ]);
      break;
    case "bytes":
      await sendPieces(response, reply.pieces, reply.contentType);
      if (reply.keepOpen === true) return;
      break;
    case "json":
      response.writeHead(200, { "content-type": "application/json" });
      response.write(JSON.stringify(reply.body));
      break;
    case "chunks":
      await sendEvents(context, reply.chunks, { gated: reply.gated, tail: reply.done === false ? [] : ["[DONE]"] });
      break;
    case "words":
      await sendEvents(context, wordChunks(reply, context), { ...reply, tail: ["[DONE]"] });
      break;
    default:
      reply satisfies never;
  }
  response.end();
}

interface Delivery {
  readonly gated?: boolean | undefined;
  readonly splitBytes?: number | undefined;
  readonly wordDelayMs?: number | undefined;
  readonly tail?: readonly string[];
}

async function sendEvents(context: ReplyContext, chunks: readonly object[], delivery: Delivery = {}): Promise<void> {
  startStream(context.response);
  const events = [
    ...chunks.map((chunk) => JSON.stringify({ model: context.model, ...chunk })),
    ...(delivery.tail ?? []),
  ];
  for (const data of events) {
    if (delivery.gated === true && data !== "[DONE]") await context.gate.pass();
    if (delivery.wordDelayMs !== undefined) await setTimeout(delivery.wordDelayMs);
    await sendBytes(context.response, Buffer.from(`data: ${data}\n\n`), delivery.splitBytes);
  }
}

async function sendBytes(response: ServerResponse, bytes: Uint8Array, pieceSize = bytes.length): Promise<void> {
  for (let at = 0; at < bytes.length; at += pieceSize) await write(response, bytes.subarray(at, at + pieceSize));
}

async function sendPieces(response: ServerResponse, pieces: readonly Uint8Array[], contentType?: string) {
  startStream(response, contentType);
  for (const piece of pieces) await write(response, piece);
}

function startStream(response: ServerResponse, contentType = "text/event-stream; charset=utf-8"): void {
  response.writeHead(200, { "content-type": contentType, "cache-control": "no-cache" });
  response.flushHeaders();
}

/** Settles when the piece left for the socket, or the client is gone. */
function write(response: ServerResponse, piece: Uint8Array): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => response.write(piece, () => resolve()));
}

function wordChunk(word: string, { isText }: Pick<ReplyContext, "isText">): object {
  if (isText) return { object: "text_completion", choices: [{ index: 0, text: word, finish_reason: null }] };
  return { object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: word }, finish_reason: null }] };
}

function wordChunks(reply: Extract<FakeReply, { kind: "words" }>, context: ReplyContext): readonly object[] {
  const reasoning = (reply.reasoning ?? []).map((thought) => ({
    choices: [{ index: 0, delta: { reasoning_content: thought }, finish_reason: null }],
  }));
  const nothing = context.isText ? { text: "" } : { delta: {} };
  const end = { choices: [{ index: 0, ...nothing, finish_reason: reply.finishReason ?? "stop" }] };
  const usage = reply.usage === undefined ? { prompt_tokens: 10, completion_tokens: reply.words.length } : reply.usage;
  const tail = usage === null || !context.wantsUsage ? [] : [{ choices: [], usage }];
  return [...reasoning, ...reply.words.map((word) => wordChunk(word, context)), end, ...tail];
}
