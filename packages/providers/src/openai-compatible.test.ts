import { getEventListeners } from "node:events";
import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { createOpenAiCompatible } from "./openai-compatible.ts";
import { ProviderError } from "./provider.ts";
import { startFakeOpenAi, type FakeOpenAi, type FakeReply } from "./testing/index.ts";
import { callOf, collect, textOf } from "./testing/stream-call.ts";
import { wireBody } from "./wire-body.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function fake(script: FakeReply | readonly FakeReply[]): Promise<FakeOpenAi> {
  const server = await startFakeOpenAi({ script });
  closers.push(() => server.close());
  return server;
}
const provider = createOpenAiCompatible();
const portOf = (server: FakeOpenAi) => new URL(server.baseUrl).port;
const WORDS = ["The ", "old ", "map ", "shows 你好 🌍."];

async function failure(run: Promise<unknown>): Promise<ProviderError> {
  const error = await run.then(() => null).catch((reason: unknown) => reason);
  if (!(error instanceof ProviderError)) throw new Error(`expected a ProviderError, got ${String(error)}`);
  return error;
}
const failureOf = async (reply: FakeReply) =>
  failure(collect(provider.stream(callOf({ baseUrl: (await fake(reply)).baseUrl }))));

describe("openai-compatible, request", () => {
  it("sends wireBody byte for byte, with the key as bearer", async () => {
    const server = await fake({ kind: "words", words: WORDS });
    const request = {
      model: "m",
      max_tokens: 9,
      messages: [{ role: "user" as const, content: "Grüße 🌍 \u2028" }],
      top_k: 4,
    };
    await collect(provider.stream(callOf({ baseUrl: `${server.baseUrl}/`, request })));
    const seen = server.requests[0];
    expect(seen?.rawBody).toBe(wireBody(request));
    expect(seen?.path).toBe("/v1/chat/completions");
    expect(seen?.headers).toMatchObject({
      authorization: "Bearer sk-test-secret",
      "content-type": "application/json",
      "accept-encoding": "identity",
    });
  });

  it("keeps a query of the base URL, and sends its user only when there is no key", async () => {
    const server = await fake({ kind: "words", words: WORDS });
    const baseUrl = `http://us%65r:p%w@127.0.0.1:${portOf(server)}/v1?api-version=2`;
    await collect(provider.stream(callOf({ target: { baseUrl, apiKey: null, allowPrivateNetwork: true } })));
    await collect(provider.stream(callOf({ target: { baseUrl, apiKey: "k", allowPrivateNetwork: true } })));
    expect(server.requests.map((seen) => [seen.path, seen.headers.authorization])).toEqual([
      ["/v1/chat/completions?api-version=2", `Basic ${Buffer.from("user:p%w").toString("base64")}`],
      ["/v1/chat/completions?api-version=2", "Bearer k"],
    ]);
  });
});

describe("openai-compatible, stream", () => {
  it("streams text, reasoning, usage and the end in order", async () => {
    const server = await fake({ kind: "words", words: ["Hi ", "you"], reasoning: ["hm"], splitBytes: 1 });
    expect(await collect(provider.stream(callOf({ baseUrl: server.baseUrl })))).toEqual([
      { type: "reasoning", delta: "hm" },
      { type: "text", delta: "Hi " },
      { type: "text", delta: "you" },
      { type: "usage", inputTokens: 10, outputTokens: 2, cacheReadTokens: null },
      { type: "end", finishReason: "stop" },
    ]);
  });

  it("hands on each word when it comes", async () => {
    const server = await fake({ kind: "words", words: WORDS, gated: true });
    const stream = provider.stream(callOf({ baseUrl: server.baseUrl }))[Symbol.asyncIterator]();
    for (const word of WORDS) {
      const next = stream.next();
      (await server.received(0)).next();
      expect((await next).value).toEqual({ type: "text", delta: word });
    }
    server.finish();
  });

  it("reads a completion that comes as one JSON document", async () => {
    const message = { role: "assistant", content: "Whole.", reasoning: "hm" };
    const usage = { prompt_tokens: 3, completion_tokens: 1 };
    const server = await fake({
      kind: "json",
      body: { choices: [{ index: 0, message, finish_reason: "stop" }], usage },
    });
    expect(await collect(provider.stream(callOf({ baseUrl: server.baseUrl })))).toEqual([
      { type: "reasoning", delta: "hm" },
      { type: "text", delta: "Whole." },
      { type: "usage", inputTokens: 3, outputTokens: 1, cacheReadTokens: null },
      { type: "end", finishReason: "stop" },
    ]);
  });

  it("ends at [DONE] though the server keeps the connection open", async () => {
    const bytes = Buffer.from('data: {"choices":[{"delta":{"content":"Hi"}}]}\n\ndata: [DONE]\n\n');
    const server = await fake({ kind: "bytes", pieces: [bytes], keepOpen: true });
    expect(textOf(await collect(provider.stream(callOf({ baseUrl: server.baseUrl }))))).toBe("Hi");
    await server.requests[0]?.clientClosed;
  });

  it("closes the socket when the reader leaves early", async () => {
    const server = await fake({ kind: "hang-mid-stream", words: WORDS });
    for await (const part of provider.stream(callOf({ baseUrl: server.baseUrl }))) if (part.type === "text") break;
    await server.requests[0]?.clientClosed;
    expect(server.closedConnections).toBe(1);
  });

  it("closes the socket of an answer it does not want to read", async () => {
    const server = await fake({ kind: "bytes", pieces: [], contentType: "text/html", keepOpen: true });
    await failure(collect(provider.stream(callOf({ baseUrl: server.baseUrl }))));
    await server.requests[0]?.clientClosed;
    expect(server.closedConnections).toBe(1);
  });

  it("keeps the connection of a reply that was read whole for the next call", async () => {
    const chunk = { choices: [{ delta: { content: "Hi" }, finish_reason: "stop" }] };
    const server = await fake({ kind: "chunks", chunks: [chunk], done: false });
    for (let call = 0; call < 3; call += 1) {
      await collect(provider.stream(callOf({ baseUrl: server.baseUrl })));
      await setImmediate();
    }
    expect(new Set(server.requests.map((seen) => seen.clientPort)).size).toBe(1);
  });

  it("leaves no listener on the signal", async () => {
    const { signal } = new AbortController();
    const server = await fake([
      { kind: "words", words: WORDS },
      { kind: "error", status: 500 },
    ]);
    await collect(provider.stream(callOf({ baseUrl: server.baseUrl, signal })));
    await failure(collect(provider.stream(callOf({ baseUrl: server.baseUrl, signal }))));
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });
});

describe("openai-compatible, failures", () => {
  it("reports status and Retry-After of a rate limit", async () => {
    const error = await failureOf({ kind: "error", status: 429, headers: { "retry-after": "20" } });
    expect(error).toMatchObject({ code: "PROVIDER_RATE_LIMITED", retryable: true, status: 429, retryAfterMs: 20_000 });
  });

  it.each<[string, FakeReply, string]>([
    ["a connection cut mid-stream", { kind: "cut", words: WORDS }, "PROVIDER_STREAM_INTERRUPTED"],
    ["a body that ends without an end mark", { kind: "no-end-mark", words: WORDS }, "PROVIDER_STREAM_INTERRUPTED"],
    ["no event at all", { kind: "no-end-mark", words: [] }, "PROVIDER_STREAM_INTERRUPTED"],
    [
      "an overflow inside the stream",
      { kind: "stream-error", words: WORDS, error: { code: "context_length_exceeded" } },
      "PROVIDER_CONTEXT_LENGTH",
    ],
    ["an error as 200 JSON", { kind: "json", body: { error: { code: 429 } } }, "PROVIDER_RATE_LIMITED"],
    ["JSON that is no object", { kind: "json", body: [1] }, "PROVIDER_BAD_RESPONSE"],
    ["a blank JSON reply", { kind: "json", body: { choices: [{ message: { content: " " } }] } }, "EMPTY_COMPLETION"],
    [
      "a web page",
      { kind: "bytes", pieces: [Buffer.from("<html>")], contentType: "text/html" },
      "PROVIDER_BAD_RESPONSE",
    ],
    ["an overflow status", { kind: "error", status: 413, body: "" }, "PROVIDER_CONTEXT_LENGTH"],
  ])("names %s", async (_, reply, code) => {
    expect((await failureOf(reply)).code).toBe(code);
  });

  it("does not follow redirects", async () => {
    const other = await fake({ kind: "words", words: WORDS });
    const headers = { location: `${other.baseUrl}/chat/completions` };
    for (const status of [301, 302, 307, 308]) {
      expect(await failureOf({ kind: "error", status, headers })).toMatchObject({
        code: "PROVIDER_UNAVAILABLE",
        retryable: false,
      });
    }
    expect(other.requests).toEqual([]);
  });
});

describe("openai-compatible, private networks", () => {
  const named = createOpenAiCompatible({ resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]) });

  it("refuses them unless allowed, also through a name and through a pooled connection", async () => {
    const server = await fake({ kind: "words", words: WORDS });
    for (const host of ["127.0.0.1", "2130706433", "0x7f.1", "model.example"]) {
      const baseUrl = `http://${host}:${portOf(server)}/v1`;
      const target = { baseUrl, apiKey: "k", allowPrivateNetwork: false };
      await collect(named.stream(callOf({ baseUrl })));
      expect(await failure(collect(named.stream(callOf({ target }))))).toMatchObject({
        code: "PROVIDER_UNAVAILABLE",
        retryable: false,
      });
    }
    expect(server.requests).toHaveLength(4);
  });
});

describe("openai-compatible, secrets", () => {
  const SECRETS = ["sk-test", "SECRET", "pw-hidden", "no-such-host", "127.0.0.1", "localhost", "Bearer", "http"];
  const secretUrl = (scheme: string, host: string) => `${scheme}://user:pw-hidden@${host}/v1?key=SECRET`;
  const leaksOf = (error: Error) => {
    const told = `${error.message} ${JSON.stringify(error)} ${String(error.cause)} ${Object.values(error).join(" ")}`;
    return SECRETS.filter((secret) => told.includes(secret));
  };
  const failWith = (code: string) =>
    createOpenAiCompatible({
      resolve: () => Promise.reject(Object.assign(new Error(`getaddrinfo ${code} no-such-host`), { code })),
    });

  it("stay out of connection errors", async () => {
    const closed = await startFakeOpenAi();
    await closed.close();
    const open = await fake({ kind: "hang-before-headers" });
    const host = `127.0.0.1:${portOf(closed)}`;
    const runs: [ReturnType<typeof createOpenAiCompatible>, string, string][] = [
      [failWith("ENOTFOUND"), secretUrl("https", "no-such-host.invalid"), "PROVIDER_UNAVAILABLE"],
      [failWith("EAI_AGAIN"), secretUrl("http", "no-such-host.invalid"), "PROVIDER_UNAVAILABLE"],
      [provider, secretUrl("http", host), "PROVIDER_UNAVAILABLE"],
      [provider, secretUrl("https", `127.0.0.1:${portOf(open)}`), "PROVIDER_UNAVAILABLE"],
      [provider, "ftp://SECRET.example", "PROVIDER_UNAVAILABLE"],
      [provider, "not a URL SECRET", "PROVIDER_UNAVAILABLE"],
    ];
    for (const [subject, baseUrl, code] of runs) {
      const error = await failure(collect(subject.stream(callOf({ baseUrl }))));
      expect([baseUrl, error.code, leaksOf(error).filter((leak) => leak !== "http")]).toEqual([baseUrl, code, []]);
    }
  });

  it("stay out of the error for a key that no header can carry", async () => {
    const target = { baseUrl: "http://127.0.0.1:9/v1", apiKey: "SECRET\nkey", allowPrivateNetwork: true };
    const error = await failure(collect(provider.stream(callOf({ target }))));
    expect([error.code, leaksOf(error)]).toEqual(["PROVIDER_AUTH_FAILED", []]);
  });

  it("stay out of errors whose upstream body repeats them", async () => {
    for (const status of [302, 400, 401, 404, 413, 429, 500]) {
      const error = await failureOf({ kind: "error", status, body: `Bearer sk-test-secret at http://127.0.0.1` });
      expect(leaksOf(error)).toEqual([]);
    }
  });
});
