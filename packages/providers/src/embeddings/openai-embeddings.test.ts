import { afterEach, describe, expect, it } from "vitest";
import { ProviderError, type ProviderTarget } from "../provider.ts";
import {
  embeddingsReply,
  startFakeOpenAi,
  startSilentListener,
  textsOf,
  type FakeOpenAi,
  type FakeReply,
  type RecordedRequest,
} from "../testing/index.ts";
import { createOpenAiEmbeddings } from "./openai-embeddings.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

const vectorOf = (text: string) => [text.length, 0, 1];
const never = new AbortController().signal;

async function fake(answer: (request: RecordedRequest) => FakeReply): Promise<FakeOpenAi> {
  const server = await startFakeOpenAi({ handler: answer });
  closers.push(() => server.close());
  return server;
}

function embedder(baseUrl: string, target: Partial<ProviderTarget> = {}) {
  return createOpenAiEmbeddings({
    id: "prov/m",
    version: baseUrl,
    model: "m",
    dims: 3,
    floor: 0.2,
    timeouts: { connectTimeoutMs: 60_000, idleTimeoutMs: 60_000 },
    target: () => ({ baseUrl, apiKey: "sk-test-secret", allowPrivateNetwork: true, ...target }),
  });
}

async function failure(run: Promise<unknown>): Promise<ProviderError> {
  const error = await run.then(() => null).catch((reason: unknown) => reason);
  if (!(error instanceof ProviderError)) throw new Error(`expected a ProviderError, got ${String(error)}`);
  return error;
}

const failureOf = async (reply: FakeReply) => failure(embedder((await fake(() => reply)).baseUrl).embed(["a"], never));

describe("openai-compatible embeddings", () => {
  it("asks for base64, with model and key, and gives vectors of length 1", async () => {
    const server = await fake((request) => embeddingsReply(request, { vectorOf: () => [3, 0, 4] }));
    const [vector] = await embedder(server.baseUrl).embed(["Grüße 🌍"], never);
    expect([...(vector ?? [])]).toEqual([expect.closeTo(0.6, 6), 0, expect.closeTo(0.8, 6)]);
    const [request] = server.requests;
    expect(request?.path).toBe("/v1/embeddings");
    expect(request?.headers).toMatchObject({ authorization: "Bearer sk-test-secret", accept: "application/json" });
    expect(JSON.parse(request?.rawBody ?? "")).toEqual({ model: "m", input: ["Grüße 🌍"], encoding_format: "base64" });
  });

  it("asks for 96 texts at a time, and keeps their order whatever the answer's", async () => {
    const server = await fake((request) => embeddingsReply(request, { vectorOf, reversed: true }));
    const texts = Array.from({ length: 200 }, (_, index) => "x".repeat(index + 1));
    const vectors = await embedder(server.baseUrl).embed(texts, never);
    expect(server.requests.map((request) => textsOf(request).length)).toEqual([96, 96, 8]);
    for (const [index, vector] of vectors.entries())
      expect((vector[0] ?? 0) / (vector[2] ?? 1)).toBeCloseTo(index + 1, 3);
  });

  it("understands a server that answers with numbers, and zeros", async () => {
    const server = await fake((request) => embeddingsReply(request, { vectorOf: () => [0, 0, 0], asNumbers: true }));
    expect(await embedder(server.baseUrl).embed(["a"], never)).toEqual([new Float32Array(3)]);
  });

  it("sends of a long text what fits in the worst case, and no half character", async () => {
    const server = await fake((request) => embeddingsReply(request, { vectorOf }));
    await embedder(server.baseUrl).embed(["🌍".repeat(5_000)], never);
    const [sent = ""] = textsOf(server.requests[0] ?? { rawBody: '{"input":[]}' });
    expect(sent).toBe("🌍".repeat(2_047));
  });

  it.each([
    ["another length", { data: [{ index: 0, embedding: [1, 2] }] }],
    ["no vector", { data: [] }],
    ["two for one", { data: [{ embedding: [1, 2, 3] }, { embedding: [1, 2, 3] }] }],
    ["a number beyond bounds", { data: [{ index: 7, embedding: [1, 2, 3] }] }],
    ["what is no number", { data: [{ index: 0, embedding: [1, "x", 3] }] }],
    ["no list", []],
  ])("takes %s for a bad answer", async (_what, body) => {
    expect(await failureOf({ kind: "json", body })).toMatchObject({ code: "PROVIDER_BAD_RESPONSE", retryable: true });
  });

  it("tells errors as the other calls of a provider do, without a word of theirs", async () => {
    const limited = {
      kind: "error",
      status: 429,
      body: { error: { message: "secret words" } },
      headers: { "retry-after": "7" },
    } as const;
    expect(await failureOf(limited)).toMatchObject({
      code: "PROVIDER_RATE_LIMITED",
      retryable: true,
      retryAfterMs: 7_000,
    });
    const refused = await failureOf({ kind: "error", status: 401, body: { error: { message: "secret words" } } });
    expect(refused).toMatchObject({ code: "PROVIDER_AUTH_FAILED", retryable: false });
    expect(refused.message).not.toContain("secret");
    expect(await failureOf({ kind: "error", status: 302 })).toMatchObject({
      code: "PROVIDER_UNAVAILABLE",
      retryable: false,
    });
  });

  it("goes into no private network that its provider is not allowed", async () => {
    const server = await fake((request) => embeddingsReply(request, { vectorOf }));
    const run = embedder(server.baseUrl, { allowPrivateNetwork: false }).embed(["a"], never);
    expect(await failure(run)).toMatchObject({ code: "PROVIDER_UNAVAILABLE", retryable: false });
    expect(server.requests).toEqual([]);
  });

  it("closes its connection at once when it is aborted, and throws the reason", async () => {
    const listener = await startSilentListener();
    closers.push(() => listener.close());
    const controller = new AbortController();
    const run = embedder(`http://127.0.0.1:${listener.port}/v1`).embed(["a"], controller.signal);
    await listener.connected;
    controller.abort(new Error("stopped"));
    await expect(run).rejects.toThrow("stopped");
    await listener.clientClosed;
  });
});
