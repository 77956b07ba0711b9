// Recall: how well words and vectors find what is asked for (mean reciprocal rank, both halves of the relevance set), what a
// vector costs where it is computed against one that is fetched under its key, and an exact scan of many.
import { readFileSync } from "node:fs";
import { hashNgramVector, meanReciprocalRank, normalisedText } from "../packages/pipeline/dist/index.js";
import { createUseLite, embeddingKey, toStored } from "../packages/providers/dist/index.js";

const ROUNDS = 101;
const SCANNED = 5_000;

const set = JSON.parse(readFileSync(new URL("../packages/pipeline/fixtures/relevance.json", import.meta.url), "utf8"));
const texts = [...set.blocks, ...set.queries].map(({ text }) => normalisedText(text));
const useLite = createUseLite();
const meanings = await useLiteVectors();
await useLite.close();

const block = `${set.blocks[0].text} ${set.blocks[1].text}`;
const computed = median(() => hashNgramVector(block));
const stored = toStored(hashNgramVector(block));
const fetched = median(() => [
  embeddingKey({ id: "p", version: "1", dims: 1_024 }, block),
  new Float32Array(new Uint8Array(stored).buffer),
]);
const vectors = Array.from({ length: SCANNED }, (_, index) =>
  Float32Array.from({ length: 512 }, (_each, at) => Math.sin(index * at)),
);
const report = {
  bench: "recall",
  blocks: set.blocks.length,
  queries: set.queries.length,
  meanReciprocalRank: { tuning: ranksOf("tuning"), test: ranksOf("test") },
  hashNgramMicroseconds: Math.round(1_000 * computed),
  keyAndDecodeMicroseconds: Math.round(1_000 * fetched),
  computedAgainstFetched: Number((computed / fetched).toFixed(1)),
  scanMs: Number(median(() => scan(vectors)).toFixed(2)),
};
console.log(JSON.stringify(report, null, 2));

/** Without the packages of use-lite: nothing. */
async function useLiteVectors() {
  const known = await useLite.embed(texts, new AbortController().signal).catch(() => null);
  if (known === null) return null;
  return {
    provider: useLite.id,
    floor: useLite.floor,
    vectors: new Map(texts.map((text, index) => [text, known[index]])),
  };
}

function ranksOf(half) {
  const words = { provider: "none", floor: 1, vectors: new Map() };
  const of = (recall, kind) => {
    const queries = set.queries.filter((query) => query.half === half && (kind === undefined || query.kind === kind));
    return Number(meanReciprocalRank({ ...set, queries }, recall).toFixed(3));
  };
  const kinds = [...new Set(set.queries.map(({ kind }) => kind))];
  const row = (recall) => ({ all: of(recall), ...Object.fromEntries(kinds.map((kind) => [kind, of(recall, kind)])) });
  return { words: row(words), hashNgram: row(undefined), ...(meanings === null ? {} : { useLite: row(meanings) }) };
}

function scan(all) {
  const [question] = all;
  let best = 0;
  for (const vector of all) {
    let sum = 0;
    for (let at = 0; at < vector.length; at += 1) sum += vector[at] * question[at];
    best = Math.max(best, sum);
  }
  return best;
}

function median(work) {
  const times = Array.from({ length: ROUNDS }, () => {
    const startedAt = performance.now();
    work();
    return performance.now() - startedAt;
  });
  return times.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)];
}
