import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { classifyError } from "./classify-error.ts";
import { createCompletionReader } from "./completion-reader.ts";
import { assertLiteralAllowed, guardedLookup, systemResolve, type Resolve } from "./guard-address.ts";
import { hostOf, postJson, type HttpAnswer, type HttpCall } from "./http-call.ts";
import { isObject, parseJson } from "./json-fields.ts";
import { badResponse } from "./network-error.ts";
import { ProviderError, type Provider, type ProviderTarget, type StreamCall, type StreamPart } from "./provider.ts";
import { readBody } from "./read-body.ts";
import { isErrorChunk, readStream } from "./read-stream.ts";
import { retryAfterMs } from "./retry-after.ts";
import { wireBody } from "./wire-body.ts";

/** An error body is read up to here to be classified, in bytes, then dropped. */
const ERROR_BODY_LIMIT = 65_536;
/** A completion sent as one JSON document, in bytes. */
const JSON_BODY_LIMIT = 16_777_216;
const ERROR_BODY_WAIT_MS = 5_000;

/**
 * Kept connections close after 15 s without use. Node gives up an attempt after 250 ms when a name has several addresses
 * (nodejs/node#54359); a host on another continent needs longer.
 */
const AGENT_OPTIONS = { keepAlive: true, timeout: 15_000, autoSelectFamilyAttemptTimeout: 2_000 };

/** Connections of targets that may use private networks are pooled apart, or a pooled one would pass the guard. */
type Pools = Readonly<Record<"guarded" | "private", { readonly http: HttpAgent; readonly https: HttpsAgent }>>;

export interface OpenAiCompatibleOptions {
  /** How host names are resolved. Default: the system's resolver. */
  readonly resolve?: Resolve;
}

/** The path under the base URL and the kind that speaks it. */
export interface OpenAiEndpoint {
  readonly kind: string;
  /** Appended to the base URL's path, with its slash. */
  readonly path: `/${string}`;
}

/**
 * A provider of one endpoint of OpenAI's API: the request is posted as it is, the answer read as chunks of a completion.
 * Idle connections are kept for the next call.
 */
export function createOpenAiEndpoint(endpoint: OpenAiEndpoint, options: OpenAiCompatibleOptions = {}): Provider {
  const resolve = options.resolve ?? systemResolve;
  const pools: Pools = { guarded: openPool(), private: openPool() };

  async function* stream(call: StreamCall): AsyncGenerator<StreamPart> {
    call.signal.throwIfAborted();
    const answer = await postJson(httpCall(call, endpoint.path, pools, resolve));
    try {
      for await (const part of readAnswer(answer)) {
        call.signal.throwIfAborted();
        yield part;
      }
    } catch (error) {
      call.signal.throwIfAborted();
      throw error;
    } finally {
      answer.close();
    }
  }
  return { kind: endpoint.kind, stream };
}

function openPool(): Pools["guarded"] {
  return { http: keepConnected(new HttpAgent(AGENT_OPTIONS)), https: keepConnected(new HttpsAgent(AGENT_OPTIONS)) };
}

/**
 * Node 24 gives the agent back the socket of a request that was destroyed before it got one, although that still waits for
 * its name or its connection: the next call would wait with it.
 */
function keepConnected<A extends HttpAgent>(agent: A): A {
  const keep = agent.keepSocketAlive.bind(agent);
  agent.keepSocketAlive = (socket) => {
    if (!("connecting" in socket && socket.connecting === true)) return keep(socket);
    socket.destroy();
    return false;
  };
  return agent;
}

function httpCall(call: StreamCall, path: string, pools: Pools, resolve: Resolve): HttpCall {
  const { target } = call;
  const url = endpointOf(target.baseUrl, path);
  assertLiteralAllowed(hostOf(url), target.allowPrivateNetwork);
  const pool = pools[target.allowPrivateNetwork ? "private" : "guarded"];
  return {
    url,
    headers: headersFor(target, url),
    body: wireBody(call.request),
    agent: url.protocol === "https:" ? pool.https : pool.http,
    lookup: guardedLookup(resolve, target.allowPrivateNetwork),
    signal: call.signal,
    connectTimeoutMs: call.connectTimeoutMs,
    idleTimeoutMs: call.idleTimeoutMs,
  };
}

/** Keeps a query, which some gateways need (`?api-version=…`). Throws `ProviderError` without repeating the URL. */
function endpointOf(baseUrl: string, path: string): URL {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    const message = "The provider's base URL is not an http or https address.";
    throw new ProviderError("PROVIDER_UNAVAILABLE", message, { retryable: false });
  }
  url.pathname = `${url.pathname.replace(/\/+$/, "")}${path}`;
  return url;
}

/** User and password in the base URL are sent as Basic credentials, unless there is a key. */
function headersFor(target: ProviderTarget, url: URL): HttpCall["headers"] {
  const credentials = `${decoded(url.username)}:${decoded(url.password)}`;
  const basic = credentials === ":" ? null : `Basic ${Buffer.from(credentials).toString("base64")}`;
  const authorization = target.apiKey === null ? basic : `Bearer ${target.apiKey}`;
  return {
    "content-type": "application/json",
    accept: "text/event-stream",
    "accept-encoding": "identity",
    ...(authorization === null ? {} : { authorization }),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function* readAnswer(answer: HttpAnswer): AsyncGenerator<StreamPart> {
  if (answer.status < 200 || answer.status >= 300) throw await failureOf(answer);
  const type = answer.headers["content-type"] ?? "";
  if ((answer.headers["content-encoding"] ?? "identity") !== "identity") {
    throw badResponse("The provider compressed its answer although it was asked not to.");
  }
  if (/\bhtml\b/i.test(type)) {
    throw badResponse("The provider answered with a web page; check its base URL.");
  }
  yield* /\bjson\b/i.test(type) ? readWhole(answer) : readStream(answer);
}

/** A body that breaks off or never comes still leaves an error that its status explains. */
async function failureOf(answer: HttpAnswer): Promise<ProviderError> {
  answer.waitAtMost(ERROR_BODY_WAIT_MS);
  const body = await readBody(answer.chunks, ERROR_BODY_LIMIT).catch(() => null);
  return classifyError({
    status: answer.status,
    body: body?.text ?? "",
    retryAfterMs: retryAfterMs(answer.headers, Date.now()),
  });
}

/** Some servers ignore `stream` and send the completion in one piece. */
async function* readWhole(answer: HttpAnswer): AsyncGenerator<StreamPart> {
  const body = await readBody(answer.chunks, JSON_BODY_LIMIT);
  const completion = body.isCut ? undefined : parseJson(body.text);
  if (!isObject(completion)) throw badResponse("The provider's answer is not a JSON object.");
  if (isErrorChunk(completion)) throw classifyError({ status: null, body: body.text, retryAfterMs: null });
  const reader = createCompletionReader();
  yield* reader.accept(completion);
  reader.done();
  yield* reader.finish();
}
