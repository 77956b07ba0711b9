import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { classifyError } from "./classify-error.ts";
import { assertLiteralAllowed, guardedLookup, systemResolve, type Resolve } from "./guard-address.ts";
import { hostOf, postJson, type HttpAnswer, type HttpCall } from "./http-call.ts";
import { badResponse } from "./network-error.ts";
import { ProviderError, type ProviderTarget, type StreamCall } from "./provider.ts";
import { readBody } from "./read-body.ts";
import { retryAfterMs } from "./retry-after.ts";

/** An error body is read up to here to be classified, in bytes, then dropped. */
const ERROR_BODY_LIMIT = 65_536;
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

/** One POST to an OpenAI-style API. */
export interface OpenAiPost extends Pick<StreamCall, "target" | "signal" | "connectTimeoutMs" | "idleTimeoutMs"> {
  /** JSON, sent byte for byte. */
  readonly body: string;
}

/**
 * Posts to one path under the targets' base URLs and answers with what was a success: anything else is thrown as the
 * `ProviderError` it stands for, as is an answer that is no API's. Idle connections are kept for the next call.
 */
export function createOpenAiPost(
  path: `/${string}`,
  options: OpenAiCompatibleOptions & { readonly accept: string },
): (post: OpenAiPost) => Promise<HttpAnswer> {
  const resolve = options.resolve ?? systemResolve;
  const pools: Pools = { guarded: openPool(), private: openPool() };
  return async (post) => {
    const answer = await postJson(httpCall(post, path, pools, resolve, options.accept));
    try {
      await requireSuccess(answer);
      return answer;
    } catch (error) {
      answer.close();
      post.signal.throwIfAborted();
      throw error;
    }
  };
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

function httpCall(post: OpenAiPost, path: string, pools: Pools, resolve: Resolve, accept: string): HttpCall {
  const { target, body, signal, connectTimeoutMs, idleTimeoutMs } = post;
  const url = endpointOf(target.baseUrl, path);
  assertLiteralAllowed(hostOf(url), target.allowPrivateNetwork);
  const pool = pools[target.allowPrivateNetwork ? "private" : "guarded"];
  return {
    url,
    headers: headersFor(target, url, accept),
    body,
    agent: url.protocol === "https:" ? pool.https : pool.http,
    lookup: guardedLookup(resolve, target.allowPrivateNetwork),
    signal,
    connectTimeoutMs,
    idleTimeoutMs,
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
function headersFor(target: ProviderTarget, url: URL, accept: string): HttpCall["headers"] {
  const credentials = `${decoded(url.username)}:${decoded(url.password)}`;
  const basic = credentials === ":" ? null : `Basic ${Buffer.from(credentials).toString("base64")}`;
  const authorization = target.apiKey === null ? basic : `Bearer ${target.apiKey}`;
  return {
    "content-type": "application/json",
    accept,
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

async function requireSuccess(answer: HttpAnswer): Promise<void> {
  if (answer.status < 200 || answer.status >= 300) throw await failureOf(answer);
  if ((answer.headers["content-encoding"] ?? "identity") !== "identity") {
    throw badResponse("The provider compressed its answer although it was asked not to.");
  }
  if (/\bhtml\b/i.test(answer.headers["content-type"] ?? "")) {
    throw badResponse("The provider answered with a web page; check its base URL.");
  }
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
