import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RecallSetting } from "@shiftwork/contracts";
import { hashNgramVector } from "@shiftwork/pipeline";
import { embeddingsReply, isUseLiteInstalled, startFakeOpenAi, type FakeOpenAi } from "../testing/index.ts";
import type { EmbeddingProvider } from "./embedding-provider.ts";
import { EMBEDDING_PROVIDERS, embeddingProvider, type EmbeddingKind } from "./registry.ts";
import { createUseLite } from "./use-lite.ts";

const useLite = createUseLite();
let server: FakeOpenAi;
beforeAll(async () => {
  server = await startFakeOpenAi({
    handler: (request) => embeddingsReply(request, { vectorOf: (text) => [...hashNgramVector(text)] }),
  });
});
afterAll(async () => {
  await useLite.close();
  await server.close();
});

/** A setting of each kind; a kind without one does not compile. */
const SETTING: { readonly [Kind in EmbeddingKind]: Extract<RecallSetting, { readonly provider: Kind }> } = {
  "hash-ngram-1024": { provider: "hash-ngram-1024" },
  "use-lite": { provider: "use-lite" },
  "openai-compatible": { provider: "openai-compatible", providerId: "prov_1", model: "m", dims: 1_024 },
};

function providerOf(kind: EmbeddingKind): EmbeddingProvider {
  return embeddingProvider(SETTING[kind], {
    useLite,
    timeouts: { connectTimeoutMs: 60_000, idleTimeoutMs: 60_000 },
    baseUrl: server.baseUrl,
    target: () => ({ baseUrl: server.baseUrl, apiKey: null, allowPrivateNetwork: true }),
  });
}

const never = new AbortController().signal;
const TEXTS = ["The key hangs by the door.", "Ключ висит у двери.", "", "鍵はドアのそばにある。", "A storm is coming."];

const kinds = (Object.keys(EMBEDDING_PROVIDERS) as EmbeddingKind[]).filter(
  (kind) => kind !== "use-lite" || isUseLiteInstalled(),
);

describe.each(kinds)("vectors of %s", (kind) => {
  let provider: EmbeddingProvider;
  beforeAll(() => {
    provider = providerOf(kind);
  });

  it("are one per text, of its length, 1 or 0 long, and the same each time, alone or among others", async () => {
    const vectors = await provider.embed(TEXTS, never);
    expect(vectors.length).toBe(TEXTS.length);
    for (const vector of vectors) {
      expect(vector.length).toBe(provider.dims);
      const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
      expect(length === 0 || Math.abs(length - 1) < 1e-5).toBe(true);
    }
    const [alone] = await provider.embed([TEXTS[4] ?? ""], never);
    const cosine = alone?.reduce((sum, value, index) => sum + value * (vectors[4]?.[index] ?? 0), 0);
    expect(cosine).toBeCloseTo(1, 4);
    expect(await provider.embed([], never)).toEqual([]);
  });

  it("end with the reason of an abort", async () => {
    const controller = new AbortController();
    controller.abort(new Error("stopped"));
    await expect(provider.embed(TEXTS, controller.signal)).rejects.toThrow("stopped");
  });

  it("say what tells related from unrelated, and how much text counts", () => {
    expect(provider.floor).toBeGreaterThan(0);
    expect(provider.floor).toBeLessThan(1);
    expect(provider.maxInputTokens).toBeGreaterThan(0);
    expect(provider.id).not.toBe("");
  });
});
