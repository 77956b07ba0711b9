import type { StoredVector } from "@shiftwork/db";
import { normalisedText, type RecallTexts, type RecallVectors } from "@shiftwork/pipeline";
import { embeddingKey } from "./embedding-key.ts";
import type { EmbeddingProvider } from "./embedding-provider.ts";
import { fromStored, toStored } from "./stored-vector.ts";
import type { VectorCache } from "./vector-cache.ts";

/** What a turn is recalled by, and what came to light on the way. */
export interface BroughtVectors {
  readonly recall: RecallVectors;
  /** Keys of those that came from the database. */
  readonly read: readonly Uint8Array[];
  /** Vectors of the question, computed now and stored nowhere yet. */
  readonly fresh: readonly StoredVector[];
  /** Texts without a vector. */
  readonly missing: number;
}

export interface BringOptions {
  readonly tenantId: string;
  readonly provider: EmbeddingProvider;
  readonly texts: RecallTexts;
  readonly cache: VectorCache;
  /** The stored ones of these keys. */
  readonly read: (keys: readonly Uint8Array[]) => Promise<readonly StoredVector[]>;
  /** How long the question's own vector may be waited for; 0 = only stored ones. Nothing else is waited for. */
  readonly questionWaitMs: number;
  readonly signal: AbortSignal;
}

interface Wanted {
  readonly text: string;
  readonly key: Buffer;
}

/**
 * The vectors a turn can have at once: from the cache, from the database, and its own question's from the provider if that
 * answers in time. A provider that fails, or is not installed, costs the turn its vectors and nothing else.
 */
export async function bringVectors(options: BringOptions): Promise<BroughtVectors> {
  const { provider, texts } = options;
  const asked = texts.question.map((text) => wanted(provider, text));
  const all = [...asked, ...texts.texts.map((text) => wanted(provider, text))];
  const { vectors, read } = await knownVectors(all, options);
  const lacking = asked.filter(({ text }) => !vectors.has(text));
  const computed = await embedInTime(lacking, options);
  const fresh: StoredVector[] = [];
  computed.forEach((vector, index) => {
    const { text, key } = lacking[index] as Wanted;
    vectors.set(text, vector);
    fresh.push({ key, vector: toStored(vector) });
  });
  return {
    recall: { provider: provider.id, floor: provider.floor, vectors },
    read,
    fresh,
    missing: all.filter(({ text }) => !vectors.has(text)).length,
  };
}

/** From the cache, else from the database. */
async function knownVectors(wants: readonly Wanted[], { tenantId, cache, read }: BringOptions) {
  const vectors = new Map<string, Float32Array>();
  const uncached = wants.filter(({ text, key }) => {
    const vector = cache.get(tenantId, key);
    if (vector !== null) vectors.set(text, vector);
    return vector === null;
  });
  const rows = uncached.length === 0 ? [] : await read(uncached.map(({ key }) => key));
  const textOf = new Map(uncached.map(({ text, key }) => [hex(key), text]));
  for (const row of rows) {
    const vector = fromStored(row.vector);
    cache.set(tenantId, row.key, vector);
    vectors.set(textOf.get(hex(row.key)) ?? "", vector);
  }
  return { vectors, read: rows.map(({ key }) => key) };
}

function wanted(provider: EmbeddingProvider, text: string): Wanted {
  return { text: normalisedText(text), key: embeddingKey(provider, text) };
}

/** All of them, or none: too late, or not possible. Throws only what aborted the turn. */
async function embedInTime(
  lacking: readonly Wanted[],
  { provider, questionWaitMs, signal }: BringOptions,
): Promise<readonly Float32Array[]> {
  if (questionWaitMs === 0 || lacking.length === 0) return [];
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(questionWaitMs)]);
  try {
    return await provider.embed(
      lacking.map(({ text }) => text),
      inTime,
    );
  } catch {
    signal.throwIfAborted();
    return [];
  }
}

function hex(key: Uint8Array): string {
  return Buffer.from(key).toString("hex");
}
