import { request as httpRequest, type Agent, type ClientRequest, type IncomingMessage } from "node:http";
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { request as httpsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { watchExchange, type ExchangeWatch } from "./exchange-watch.ts";
import { connectionError, interrupted, timedOut } from "./network-error.ts";

export interface HttpCall {
  readonly url: URL;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
  readonly agent: Agent;
  readonly lookup: LookupFunction;
  readonly signal: AbortSignal;
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body. Ends early by throwing: the abort reason, a time-out, or `PROVIDER_STREAM_INTERRUPTED`. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Shortens the silence allowed from here on; never lengthens it. */
  waitAtMost(ms: number): void;
  /** Gives the connection back when everything was read, else closes it. Safe twice. */
  close(): void;
}

/**
 * One POST, without redirects. Resolves with the head of the answer. Throws `ProviderError`, or `signal.reason` once
 * `signal` aborts: the socket is closed at that moment, in whichever phase it is.
 */
export async function postJson(call: HttpCall): Promise<HttpAnswer> {
  call.signal.throwIfAborted();
  const request = openRequest(call);
  const watch = watchExchange(request, call.signal);
  // Listens from the start: an error right behind `connect` comes before the code after `await` runs.
  const answered = whenAnswered(request);
  answered.catch(() => {});
  try {
    await whenConnected(request, watch, call);
    watch.expect(call.idleTimeoutMs, silence);
    const response = await answered;
    watch.rest();
    watch.throwIfCut();
    return answerOf(response, watch, call.idleTimeoutMs);
  } catch (error) {
    watch.release();
    request.destroy();
    watch.throwIfCut();
    throw connectionError(error);
  }
}

function openRequest(call: HttpCall): ClientRequest {
  const { url } = call;
  const options = {
    method: "POST",
    hostname: hostOf(url),
    port: url.port,
    path: url.pathname + url.search,
    headers: { ...call.headers, "content-length": Buffer.byteLength(call.body) },
    agent: call.agent,
    lookup: call.lookup,
  };
  try {
    const request = url.protocol === "https:" ? httpsRequest(options) : httpRequest(options);
    // Whoever waits learns of an error by its own listener; one after the last wait must not end the process.
    request.on("error", () => {});
    request.end(call.body);
    return request;
  } catch (error) {
    throw connectionError(error);
  }
}

/** The host without the brackets a URL puts around IPv6. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

/** Settles when the connection can carry the request: resolved, connected and, for https, TLS agreed. */
function whenConnected(request: ClientRequest, watch: ExchangeWatch, call: HttpCall): Promise<void> {
  watch.expect(call.connectTimeoutMs, () => timedOut("No connection to the provider could be made in time."));
  const ready = call.url.protocol === "https:" ? "secureConnect" : "connect";
  return new Promise((resolve, reject) => {
    request.once("error", reject);
    request.once("close", () => reject(interrupted()));
    request.once("socket", (socket) => {
      if (request.reusedSocket) resolve();
      else socket.once(ready, () => resolve());
    });
  });
}

function whenAnswered(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.once("response", resolve);
    request.once("error", reject);
    request.once("close", () => reject(interrupted()));
  });
}

function answerOf(response: IncomingMessage, watch: ExchangeWatch, idleTimeoutMs: number): HttpAnswer {
  let idleMs = idleTimeoutMs;
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    chunks: readChunks(response, watch, () => idleMs),
    waitAtMost(ms) {
      idleMs = Math.min(idleMs, ms);
    },
    close() {
      watch.release();
      if (!response.readableEnded) response.destroy();
    },
  };
}

/** The clock runs only while we wait for the other side; a slow consumer is not a silent provider. */
async function* readChunks(
  response: IncomingMessage,
  watch: ExchangeWatch,
  idleMs: () => number,
): AsyncGenerator<Uint8Array> {
  try {
    watch.expect(idleMs(), silence);
    for await (const chunk of response as AsyncIterable<Uint8Array>) {
      watch.rest();
      yield chunk;
      watch.expect(idleMs(), silence);
    }
  } catch {
    watch.throwIfCut();
    throw interrupted();
  } finally {
    watch.release();
  }
  watch.throwIfCut();
}

function silence(): ReturnType<typeof timedOut> {
  return timedOut("The provider kept silent for too long.");
}
