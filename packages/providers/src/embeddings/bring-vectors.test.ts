import type { StoredVector } from "@shiftwork/db";
import fc from "fast-check";
import { expect, test } from "vitest";
import { bringVectors, type BringOptions } from "./bring-vectors.ts";
import { embeddingKey } from "./embedding-key.ts";
import type { EmbeddingProvider } from "./embedding-provider.ts";
import { fromStored, toStored } from "./stored-vector.ts";
import { createVectorCache } from "./vector-cache.ts";

const provider: EmbeddingProvider = {
  id: "p",
  dims: 2,
  maxInputTokens: 10,
  floor: 0.2,
  embed: async (texts) => texts.map((text) => Float32Array.of(text.length, 0)),
};
const texts = { question: ["now?", "before"], texts: ["a sword", "a shield"] };
const row = (text: string, vector: readonly number[]): StoredVector => ({
  key: embeddingKey(provider, text),
  vector: toStored(Float32Array.from(vector)),
});

function bring(part: Partial<BringOptions>, stored: readonly StoredVector[] = []) {
  const asked: number[] = [];
  const read: BringOptions["read"] = async (keys) => {
    asked.push(keys.length);
    const wanted = new Set(keys.map((key) => Buffer.from(key).toString("hex")));
    return stored.filter(({ key }) => wanted.has(Buffer.from(key).toString("hex")));
  };
  const signal = new AbortController().signal;
  const options = {
    tenantId: "t",
    provider,
    texts,
    cache: createVectorCache(),
    read,
    questionWaitMs: 0,
    signal,
    ...part,
  };
  return { brought: bringVectors(options), asked };
}

test("brings what is stored, counts what is missing, and asks the provider for nothing", async () => {
  const stored = [row("now?", [1, 0]), row("a sword", [0, 1])];
  const embed = () => Promise.reject(new Error("asked"));
  const { recall, read, fresh, missing } = await bring({ provider: { ...provider, embed } }, stored).brought;
  expect([...recall.vectors]).toEqual([
    ["now?", Float32Array.of(1, 0)],
    ["a sword", Float32Array.of(0, 1)],
  ]);
  expect([read.length, fresh, missing]).toEqual([2, [], 2]);
});

test("reads a vector once: afterwards it is in the cache, of its tenant alone", async () => {
  const cache = createVectorCache();
  const stored = [...texts.question, ...texts.texts].map((text) => row(text, [1, 0]));
  await bring({ cache }, stored).brought;
  const again = bring({ cache }, stored);
  expect((await again.brought).missing).toBe(0);
  expect(again.asked).toEqual([]);
  const other = bring({ cache, tenantId: "u" }, []);
  expect((await other.brought).missing).toBe(4);
});

test("may wait for the question's own vectors, never for those of what is recalled", async () => {
  const { recall, fresh, missing } = await bring({ questionWaitMs: 60_000 }).brought;
  expect([...recall.vectors.keys()]).toEqual(texts.question);
  expect(fresh.map(({ key }) => key)).toEqual(texts.question.map((text) => embeddingKey(provider, text)));
  expect(missing).toBe(2);
});

test("goes without when the provider fails or keeps silent", async () => {
  const silent: EmbeddingProvider["embed"] = (_texts, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  for (const embed of [silent, () => Promise.reject(new Error("no"))]) {
    const { recall, missing } = await bring({ provider: { ...provider, embed }, questionWaitMs: 1 }).brought;
    expect([recall.vectors.size, missing]).toEqual([0, 4]);
  }
});

test("ends with the reason when the turn is aborted meanwhile", async () => {
  const controller = new AbortController();
  const embed = () => {
    controller.abort(new Error("cancelled"));
    return Promise.reject(new Error("no"));
  };
  const { brought } = bring({ provider: { ...provider, embed }, questionWaitMs: 60_000, signal: controller.signal });
  await expect(brought).rejects.toThrow("cancelled");
});

test("another provider, version, length or text is another key; white space is none", () => {
  const key = (part: Partial<EmbeddingProvider>, text = "a sword") =>
    embeddingKey({ ...provider, ...part }, text).toString("hex");
  const keys = [key({}), key({ id: "q" }), key({ version: "2" }), key({ dims: 3 }), key({}, "A sword")];
  expect(new Set(keys).size).toBe(keys.length);
  expect(key({}, " a\n sword ")).toBe(key({}));
});

test("a stored vector is the one that was stored, at whatever offset a driver hands it over", () => {
  const vectors = fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), { maxLength: 20 });
  fc.assert(
    fc.property(vectors, fc.nat(7), (numbers, offset) => {
      const vector = Float32Array.from(numbers);
      const padded = Buffer.concat([Buffer.alloc(offset), toStored(vector)]);
      expect(fromStored(padded.subarray(offset))).toEqual(vector);
    }),
    { seed: 3 },
  );
});

test("the cache holds as many bytes as it may, and keeps what was used last", () => {
  const cache = createVectorCache(3 * 8);
  const keyOf = (index: number) => Uint8Array.of(index);
  for (const index of [1, 2, 3]) cache.set("t", keyOf(index), Float32Array.of(index, 0));
  cache.get("t", keyOf(1));
  cache.set("t", keyOf(4), Float32Array.of(4, 0));
  expect([1, 2, 3, 4].map((index) => cache.get("t", keyOf(index))?.[0] ?? null)).toEqual([1, null, 3, 4]);
});
