import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ChatRequest } from "@shiftwork/pipeline";
import { playReply, type FakeReply } from "./fake-reply.ts";
import { createGate } from "./gate.ts";

/** One call the fake received, and the handle on its reply. */
export interface RecordedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: ChatRequest;
  /** The rendered prompt of a text completion; `null` for a chat's messages. */
  readonly prompt: string | null;
  /** The body as it came over the wire. */
  readonly rawBody: string;
  /** The client's end of the connection: equal ports, same connection. */
  readonly clientPort: number;
  /** Resolves when the client closes the connection before the reply is complete. */
  readonly clientClosed: Promise<void>;
  /** Resolves when the reply was sent completely. */
  readonly replied: Promise<void>;
  /** Lets a gated reply send one more event. */
  next(): void;
  /** Lets a gated reply run to its end. */
  finish(): void;
}

export interface FakeOpenAiOptions {
  /** What the requests get, in order; the last one goes on for all that follow. */
  readonly script?: FakeReply | readonly FakeReply[];
  /** Decides per request instead. */
  readonly handler?: (request: RecordedRequest) => FakeReply | Promise<FakeReply>;
  /** Default: any free one. */
  readonly port?: number;
}

export interface FakeOpenAi {
  /** `http://127.0.0.1:<port>/v1`. */
  readonly baseUrl: string;
  readonly requests: readonly RecordedRequest[];
  /** How often a client closed the connection before its reply was complete. */
  readonly closedConnections: number;
  /** The request with this number, counted from 0, as soon as it is there. */
  received(index: number): Promise<RecordedRequest>;
  /** `next()` of the newest request. Throws when there is none. */
  next(): void;
  /** `finish()` of the newest request. Throws when there is none. */
  finish(): void;
  /** Closes every connection and the port. Safe twice. */
  close(): Promise<void>;
}

/**
 * A real HTTP server that speaks chat completions, on `…/completions` text completions, and misbehaves on demand. Without options it answers `Hello there.`;
 * tests wait for its signals instead of sleeping.
 */
export async function startFakeOpenAi(options: FakeOpenAiOptions = {}): Promise<FakeOpenAi> {
  const log = createRequestLog();
  const state = { closedConnections: 0, isClosing: false };
  const server = createServer((incoming, response) => {
    serve(options, state, log, incoming, response).catch(() => response.destroy());
  });
  server.on("connection", (socket) => socket.setNoDelay(true));
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));

  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests: log.requests,
    get closedConnections() {
      return state.closedConnections;
    },
    received: (index) => log.received(index),
    next: () => log.newest().next(),
    finish: () => log.newest().finish(),
    close: () =>
      new Promise((resolve) => {
        state.isClosing = true;
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function serve(
  options: FakeOpenAiOptions,
  state: { closedConnections: number; readonly isClosing: boolean },
  log: ReturnType<typeof createRequestLog>,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const rawBody = await readText(incoming);
  const body = JSON.parse(rawBody) as ChatRequest;
  const gate = createGate();
  let isOurCut = false;
  const end = watchEnd(response, () => {
    if (isOurCut || state.isClosing) return false;
    state.closedConnections += 1;
    return true;
  });
  const request: RecordedRequest = {
    path: incoming.url ?? "",
    headers: incoming.headers,
    body,
    prompt: typeof body["prompt"] === "string" ? body["prompt"] : null,
    rawBody,
    clientPort: incoming.socket.remotePort ?? 0,
    ...end,
    next: () => gate.next(),
    finish: () => gate.open(),
  };
  const reply = await chooseReply(options, request, log.add(request));
  isOurCut = reply.kind === "cut";
  await playReply(reply, {
    response,
    gate,
    model: body.model,
    wantsUsage: wantsUsage(body),
    isText: !request.path.includes("/chat/completions"),
  });
}

/** Requests in the order they came, and whoever waits for one that has not come yet. */
function createRequestLog() {
  const requests: RecordedRequest[] = [];
  const waiting = new Map<number, ((request: RecordedRequest) => void)[]>();
  return {
    requests: requests as readonly RecordedRequest[],
    /** Returns the request's number. */
    add(request: RecordedRequest): number {
      const index = requests.push(request) - 1;
      for (const resolve of waiting.get(index) ?? []) resolve(request);
      return index;
    },
    received(index: number): Promise<RecordedRequest> {
      const request = requests[index];
      if (request !== undefined) return Promise.resolve(request);
      return new Promise((resolve) => waiting.set(index, [...(waiting.get(index) ?? []), resolve]));
    },
    newest(): RecordedRequest {
      const request = requests.at(-1);
      if (request === undefined) throw new Error("the fake provider has received no request yet");
      return request;
    },
  };
}

function chooseReply(options: FakeOpenAiOptions, request: RecordedRequest, index: number) {
  if (options.handler !== undefined) return options.handler(request);
  const { script } = options;
  const replies = script === undefined ? [] : "kind" in script ? [script] : script;
  return replies[index] ?? replies.at(-1) ?? ({ kind: "words", words: ["Hello ", "there."] } satisfies FakeReply);
}

/** A response that closes before its last byte was handed over was left by the client, unless we ended it. */
function watchEnd(response: ServerResponse, isClientGone: () => boolean) {
  const clientClosed = new Promise<void>((resolve) => {
    response.once("close", () => {
      if (!response.writableFinished && isClientGone()) resolve();
    });
  });
  const replied = new Promise<void>((resolve) => {
    response.once("finish", () => resolve());
  });
  return { clientClosed, replied };
}

async function readText(incoming: IncomingMessage): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of incoming as AsyncIterable<Uint8Array>) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

function wantsUsage(body: ChatRequest): boolean {
  const options = body["stream_options"];
  return (
    typeof options === "object" && options !== null && "include_usage" in options && options.include_usage === true
  );
}
