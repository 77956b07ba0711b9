import type { HttpAnswer } from "../http-call.ts";
import { isObject, listAt, parseJson, type JsonObject } from "../json-fields.ts";
import { badResponse } from "../network-error.ts";
import { createOpenAiPost, type OpenAiCompatibleOptions } from "../openai-post.ts";
import type { ProviderError, ProviderTarget, ProviderTimeouts } from "../provider.ts";
import { readBody } from "../read-body.ts";
import { cutInput } from "./cut-input.ts";
import type { EmbeddingProvider } from "./embedding-provider.ts";
import { toUnit } from "./to-unit.ts";

/** Texts in one request. */
const MOST_TEXTS = 96;
/** What OpenAI's models take, in tokens; the smallest of what compatible servers say about themselves is not known. */
const MAX_INPUT_TOKENS = 8_191;
/** 96 vectors of 8,192 numbers, written out in decimals. */
const BODY_LIMIT = 33_554_432;

/** A model behind `POST /embeddings`. */
export interface OpenAiEmbeddingsOptions {
  readonly id: string;
  /** Whatever else vectors depend on; part of their keys. */
  readonly version: string;
  readonly model: string;
  readonly dims: number;
  readonly floor: number;
  readonly timeouts: ProviderTimeouts;
  /** Opens the provider's secret; called just before each call. */
  readonly target: () => ProviderTarget;
}

const sharedPost = createOpenAiPost("/embeddings", { accept: "application/json" });

/**
 * Vectors of an OpenAI-style endpoint, asked for as base64 in batches of 96. A server that answers with numbers instead is
 * understood too. Errors, time-outs, aborts and addresses are those of the other calls of a provider.
 */
export function createOpenAiEmbeddings(
  { id, version, model, dims, floor, timeouts, target }: OpenAiEmbeddingsOptions,
  options: OpenAiCompatibleOptions = {},
): EmbeddingProvider {
  const post = options.resolve
    ? createOpenAiPost("/embeddings", { ...options, accept: "application/json" })
    : sharedPost;

  async function embedBatch(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    const input = texts.map((text) => cutInput(text, MAX_INPUT_TOKENS));
    const body = JSON.stringify({ model, input, encoding_format: "base64" });
    const answer = await post({ target: target(), body, signal, ...timeouts });
    try {
      return readVectors(await readDocument(answer), texts.length, dims);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      answer.close();
    }
  }

  return {
    id,
    version,
    dims,
    floor,
    maxInputTokens: MAX_INPUT_TOKENS,
    async embed(texts, signal) {
      signal.throwIfAborted();
      const vectors: Float32Array[] = [];
      for (let from = 0; from < texts.length; from += MOST_TEXTS)
        vectors.push(...(await embedBatch(texts.slice(from, from + MOST_TEXTS), signal)));
      return vectors;
    },
  };
}

async function readDocument(answer: HttpAnswer): Promise<JsonObject> {
  const body = await readBody(answer.chunks, BODY_LIMIT);
  const document = body.isCut ? undefined : parseJson(body.text);
  if (!isObject(document)) throw badResponse("The provider's answer is not a JSON object.");
  return document;
}

/** The vectors in the order of the texts, which the answer need not keep. */
function readVectors(document: JsonObject, count: number, dims: number): readonly Float32Array[] {
  const entries = listAt(document, "data").filter(isObject);
  if (entries.length !== count)
    throw badResponse("The provider answered with fewer or more vectors than it was asked for.");
  const vectors = new Map<unknown, Float32Array>();
  entries.forEach((entry, position) => vectors.set(entry["index"] ?? position, readVector(entry["embedding"], dims)));
  return Array.from(
    { length: count },
    (_, index) => vectors.get(index) ?? fail("The provider's vectors are not numbered."),
  );
}

function readVector(written: unknown, dims: number): Float32Array {
  const numbers = typeof written === "string" ? fromBase64(written) : Array.isArray(written) ? written : [];
  if (numbers.length !== dims)
    fail(`The provider's vectors have ${numbers.length} dimensions; the setting says ${dims}.`);
  const vector = Float32Array.from(numbers, Number);
  return vector.every(Number.isFinite) ? toUnit(vector) : fail("The provider's vectors hold what is no number.");
}

/** Float32, little-endian. */
function fromBase64(text: string): readonly number[] {
  const bytes = Buffer.from(text, "base64");
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readFloatLE(4 * index));
}

function fail(message: string): never {
  const error: ProviderError = badResponse(message);
  throw error;
}
