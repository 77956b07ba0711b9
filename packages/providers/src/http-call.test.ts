import { afterEach, describe, expect, it } from "vitest";
import { createOpenAiCompatible } from "./openai-compatible.ts";
import type { StreamCall, StreamPart } from "./provider.ts";
import { startFakeOpenAi, startSilentListener, type FakeOpenAi, type FakeReply } from "./testing/index.ts";
import { callOf, collect, textOf } from "./testing/stream-call.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function fake(script: FakeReply): Promise<FakeOpenAi> {
  const server = await startFakeOpenAi({ script });
  closers.push(() => server.close());
  return server;
}
const provider = createOpenAiCompatible();
const portOf = (server: FakeOpenAi) => new URL(server.baseUrl).port;
const WORDS = ["The ", "old ", "map ", "shows 你好 🌍."];
const REASON = { why: "the user pressed Stop" };

/** Starts a call at once; `outcome` is what it throws, so that the test can act before it waits. */
function start(call: Partial<StreamCall> & { readonly baseUrl: string }, subject = provider) {
  const stop = new AbortController();
  const run = collect(subject.stream(callOf({ ...call, signal: stop.signal })));
  return { abort: () => stop.abort(REASON), outcome: run.then(textOf, (reason: unknown) => reason) };
}

describe("time-outs", () => {
  it("blames no provider for a silence that was this process's own: what has arrived meanwhile is read first", async () => {
    const server = await fake({ kind: "words", words: WORDS, gated: true });
    const { outcome } = start({ baseUrl: server.baseUrl, idleTimeoutMs: 150 });
    const request = await server.received(0);
    request.finish();
    // The answer is on its way when the process stands still for longer than the time-out, as when it is frozen.
    const wakesAt = performance.now() + 600;
    await new Promise((resolve) => setImmediate(resolve));
    while (performance.now() < wakesAt);
    expect(await outcome).toBe(WORDS.join(""));
  });

  it("closes a silent connection after the idle time-out, in every phase", async () => {
    const replies = [
      { kind: "hang-before-headers" },
      { kind: "hang-before-first-token" },
      { kind: "hang-mid-stream", words: WORDS },
    ] as const;
    for (const reply of replies) {
      const server = await fake(reply);
      const { outcome } = start({ baseUrl: server.baseUrl, idleTimeoutMs: 30 });
      expect(await outcome).toMatchObject({ code: "PROVIDER_TIMEOUT", retryable: true });
      await server.requests[0]?.clientClosed;
    }
  });

  it("gives up connecting after the connect time-out, resolving and TLS included", async () => {
    const stuck = createOpenAiCompatible({ resolve: () => new Promise(() => {}) });
    const resolving = start({ baseUrl: "http://model.example/v1", connectTimeoutMs: 20 }, stuck);
    expect(await resolving.outcome).toMatchObject({ code: "PROVIDER_TIMEOUT" });
    const silent = await startSilentListener();
    closers.push(() => silent.close());
    const agreeing = start({ baseUrl: `https://127.0.0.1:${silent.port}/v1`, connectTimeoutMs: 20 });
    expect(await agreeing.outcome).toMatchObject({ code: "PROVIDER_TIMEOUT" });
    await silent.clientClosed;
  });
});

describe("abort before the answer", () => {
  it("sends nothing when it came before the call", async () => {
    const server = await fake({ kind: "words", words: WORDS });
    const call = callOf({ baseUrl: server.baseUrl, signal: AbortSignal.abort(REASON) });
    await expect(collect(provider.stream(call))).rejects.toBe(REASON);
    expect(server.requests).toEqual([]);
  });

  it("ends the wait for the resolver, and leaves no dead connection to the next call", async () => {
    const server = await fake({ kind: "words", words: WORDS });
    let stuck = true;
    let onLookup = (): void => {};
    const stuckFirst = createOpenAiCompatible({
      resolve: () => {
        onLookup();
        return stuck ? new Promise(() => {}) : Promise.resolve([{ address: "127.0.0.1", family: 4 }]);
      },
    });
    const baseUrl = `http://model.example:${portOf(server)}/v1`;
    // Node 24 does not even look a name up for a request that is gone in the same tick; earlier ones do.
    const sameTick = start({ baseUrl }, stuckFirst);
    sameTick.abort();
    expect(await sameTick.outcome).toBe(REASON);
    const lookedUp = new Promise<void>((resolve) => (onLookup = resolve));
    const later = start({ baseUrl }, stuckFirst);
    await lookedUp;
    later.abort();
    expect(await later.outcome).toBe(REASON);
    stuck = false;
    expect(await start({ baseUrl }, stuckFirst).outcome).toBe(WORDS.join(""));
  });

  it("closes a connection that is still agreeing on TLS", async () => {
    const silent = await startSilentListener();
    closers.push(() => silent.close());
    const { abort, outcome } = start({ baseUrl: `https://127.0.0.1:${silent.port}/v1` });
    await silent.connected;
    abort();
    expect(await outcome).toBe(REASON);
    await silent.clientClosed;
  });

  it.each<FakeReply>([{ kind: "hang-before-headers" }, { kind: "hang-before-first-token" }])(
    "closes the socket before the first token: $kind",
    async (reply) => {
      const server = await fake(reply);
      const { abort, outcome } = start({ baseUrl: server.baseUrl });
      const request = await server.received(0);
      abort();
      expect(await outcome).toBe(REASON);
      await request.clientClosed;
    },
  );
});

describe("abort within the answer", () => {
  it("closes the socket mid-stream and hands on no part that was already read", async () => {
    const bytes = Buffer.from(WORDS.map((word) => `data: {"choices":[{"delta":{"content":"${word}"}}]}\n\n`).join(""));
    const server = await fake({ kind: "bytes", pieces: [bytes], keepOpen: true });
    const stop = new AbortController();
    const parts: StreamPart[] = [];
    const run = async () => {
      for await (const part of provider.stream(callOf({ baseUrl: server.baseUrl, signal: stop.signal }))) {
        parts.push(part);
        if (parts.length === 2) stop.abort(REASON);
      }
    };
    await expect(run()).rejects.toBe(REASON);
    expect(textOf(parts)).toBe("The old ");
    await server.requests[0]?.clientClosed;
  });

  it("outranks an end that was already read", async () => {
    const server = await fake({ kind: "words", words: ["Hi"] });
    const stop = new AbortController();
    const run = async () => {
      for await (const part of provider.stream(callOf({ baseUrl: server.baseUrl, signal: stop.signal }))) {
        if (part.type === "usage") stop.abort(REASON);
      }
    };
    await expect(run()).rejects.toBe(REASON);
  });
});
