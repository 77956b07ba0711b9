import type { ProviderRequest } from "@shiftwork/pipeline";
import { afterEach, describe, expect, it } from "vitest";
import { PROVIDERS, PROVIDER_KINDS, providerByKind, type ProviderKind } from "./registry.ts";
import type { StreamPart } from "./provider.ts";
import { startFakeOpenAi } from "./testing/index.ts";
import { callOf, collect, textOf } from "./testing/stream-call.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Where each kind finds a model that answers; a kind without an entry does not compile. */
const BASE_URL: Record<ProviderKind, () => Promise<string>> = {
  echo: () => Promise.resolve(""),
  "openai-compatible": fakeServer,
  "openai-compatible-text": fakeServer,
};

async function fakeServer(): Promise<string> {
  const server = await startFakeOpenAi({ script: { kind: "words", words: ["One ", "two ", "three."] } });
  closers.push(() => server.close());
  return server.baseUrl;
}

/** What each kind is sent; the kinds that are not listed take messages. */
function requestFor(kind: ProviderKind): ProviderRequest {
  const text = { model: "m", max_tokens: 9, prompt: "Hi there", stop: ["\n"] };
  const chat = { model: "m", max_tokens: 9, messages: [{ role: "user" as const, content: "Hi there" }] };
  return kind === "openai-compatible-text" ? text : chat;
}

function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}

describe.each(PROVIDER_KINDS)("provider %s", (kind) => {
  const provider = PROVIDERS[kind];
  const REASON = { why: "stop" };

  it("is found by its kind", () => {
    expect(provider.kind).toBe(kind);
    expect(providerByKind(kind)).toBe(provider);
  });

  it("streams the same parts for the same request, with exactly one end, and leaves the request alone", async () => {
    const request = frozen(requestFor(kind));
    const call = callOf({ baseUrl: await BASE_URL[kind](), request });
    const parts = await collect(provider.stream(call));
    expect(await collect(provider.stream(call))).toEqual(parts);
    expect(parts.filter((part) => part.type === "end")).toHaveLength(1);
    expect(parts.at(-1)?.type).toBe("end");
    expect(parts.filter((part) => part.type === "text").length).toBeGreaterThan(1);
    expect(textOf(parts).trim()).not.toBe("");
  });

  it("never reports a usage of 0 for what it does not know", async () => {
    const parts = await collect(
      provider.stream(callOf({ baseUrl: await BASE_URL[kind](), request: requestFor(kind) })),
    );
    const counts = parts.filter((part) => part.type === "usage").flatMap((part) => Object.values(part));
    expect(counts).not.toContain(0);
  });

  it("throws the abort reason when aborted before the call", async () => {
    const call = callOf({ baseUrl: await BASE_URL[kind](), signal: AbortSignal.abort(REASON) });
    await expect(collect(provider.stream(call))).rejects.toBe(REASON);
  });

  it("throws the abort reason when aborted during the call, and streams nothing more", async () => {
    const stop = new AbortController();
    const call = callOf({ baseUrl: await BASE_URL[kind](), signal: stop.signal });
    const parts: StreamPart[] = [];
    const run = async () => {
      for await (const part of provider.stream(call)) {
        parts.push(part);
        stop.abort(REASON);
      }
    };
    await expect(run()).rejects.toBe(REASON);
    expect(parts).toHaveLength(1);
  });

  it("never puts the key into what it streams or throws", async () => {
    const call = callOf({ baseUrl: await BASE_URL[kind](), request: requestFor(kind) });
    const parts = await collect(provider.stream(call));
    const target = { ...call.target, baseUrl: "http://127.0.0.1:1/sk-test-secret" };
    const error = await collect(provider.stream({ ...call, target })).catch((reason: unknown) => reason);
    const told = `${JSON.stringify(parts)} ${JSON.stringify(error)} ${String(error)}`;
    expect(told).not.toContain("sk-test-secret");
  });
});

describe("providerByKind", () => {
  it("knows no other kind", () => {
    expect(["", "openai", "constructor", "__proto__"].map((kind) => providerByKind(kind))).toEqual([
      null,
      null,
      null,
      null,
    ]);
  });
});
