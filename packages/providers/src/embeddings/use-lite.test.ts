import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { meanReciprocalRank, normalisedText, type RelevanceSet } from "@shiftwork/pipeline";
import { afterAll, describe, expect, it } from "vitest";
import { isUseLiteInstalled } from "../testing/index.ts";
import { EmbeddingsUnavailableError } from "./embedding-provider.ts";
import { createUseLite } from "./use-lite.ts";

const never = new AbortController().signal;
const useLite = createUseLite();
afterAll(() => useLite.close());

const file = new URL("../../../pipeline/fixtures/relevance.json", import.meta.url);
const whole = JSON.parse(readFileSync(file, "utf8")) as RelevanceSet;
const isOfTest = (query: object) => "half" in query && query.half === "test";
const set = { ...whole, queries: whole.queries.filter(isOfTest) };

const isInstalled = isUseLiteInstalled();
const skipped = isInstalled ? "" : " (skipped: the optional packages are not installed)";

// The model is read from disk and compiled first.
describe.skipIf(!isInstalled)(`use-lite${skipped}`, { timeout: 60_000 }, () => {
  it("finds by meaning what the test half asks for: mean reciprocal rank 0.80 or more", async () => {
    const texts = [...set.blocks, ...set.queries].map(({ text }) => normalisedText(text));
    const vectors = await useLite.embed(texts, never);
    const recall = {
      provider: useLite.id,
      floor: useLite.floor,
      vectors: new Map(texts.map((text, index) => [text, vectors[index] ?? new Float32Array(0)])),
    };
    expect(meanReciprocalRank(set, recall)).toBeGreaterThanOrEqual(0.8);
  });

  it("does not judge what is not mostly Latin letters: English alone was learnt", async () => {
    const vectors = await useLite.embed(["Привет", "竜の卵", "12 34", "Hello, мир"], never);
    expect(vectors.map((vector) => vector.some((value) => value !== 0))).toEqual([false, false, false, true]);
  });

  it("stops waiting when it is aborted, and goes on for others", async () => {
    const controller = new AbortController();
    const [aborted, other] = [useLite.embed(["one thing"], controller.signal), useLite.embed(["another"], never)];
    controller.abort(new Error("too late"));
    await expect(aborted).rejects.toThrow("too late");
    expect(await other).toHaveLength(1);
  });
});

describe("the thread of use-lite", () => {
  it("says what to install where its packages are missing", async () => {
    const answers = `const { parentPort } = require("node:worker_threads");
      parentPort.on("message", ({ id }) => parentPort.postMessage({ id, type: "unavailable" }));`;
    const elsewhere = createUseLite(() => new Worker(answers, { eval: true }));
    const error = await elsewhere.embed(["hello"], never).catch((reason: unknown) => reason);
    await elsewhere.close();
    expect(error).toBeInstanceOf(EmbeddingsUnavailableError);
    expect(error).toMatchObject({ code: "EMBEDDINGS_UNAVAILABLE", fix: expect.stringContaining("npm install") });
  });

  it("gives up those who wait when its thread ends, and starts another for the next", async () => {
    let starts = 0;
    const dies = createUseLite(() => {
      starts += 1;
      return new Worker('require("node:worker_threads").parentPort.on("message", () => process.exit(1));', {
        eval: true,
      });
    });
    for (const expected of [1, 2]) {
      await expect(dies.embed(["hello"], never)).rejects.toThrow("ended");
      expect(starts).toBe(expected);
    }
  });
});
