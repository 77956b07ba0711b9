import { classifyError } from "./classify-error.ts";
import { createCompletionReader } from "./completion-reader.ts";
import type { HttpAnswer } from "./http-call.ts";
import { isObject, parseJson } from "./json-fields.ts";
import { badResponse } from "./network-error.ts";
import { createOpenAiPost, type OpenAiCompatibleOptions } from "./openai-post.ts";
import type { Provider, StreamCall, StreamPart } from "./provider.ts";
import { readBody } from "./read-body.ts";
import { isErrorChunk, readStream } from "./read-stream.ts";
import { wireBody } from "./wire-body.ts";

/** A completion sent as one JSON document, in bytes. */
const JSON_BODY_LIMIT = 16_777_216;

/** The path under the base URL and the kind that speaks it. */
export interface OpenAiEndpoint {
  readonly kind: string;
  /** Appended to the base URL's path, with its slash. */
  readonly path: `/${string}`;
}

/**
 * A provider of one endpoint of OpenAI's API: the request is posted as it is, the answer read as chunks of a completion.
 * Idle connections are kept for the next call.
 */
export function createOpenAiEndpoint(endpoint: OpenAiEndpoint, options: OpenAiCompatibleOptions = {}): Provider {
  const post = createOpenAiPost(endpoint.path, { ...options, accept: "text/event-stream" });

  async function* stream(call: StreamCall): AsyncGenerator<StreamPart> {
    call.signal.throwIfAborted();
    const answer = await post({ ...call, body: wireBody(call.request) });
    try {
      for await (const part of readAnswer(answer)) {
        call.signal.throwIfAborted();
        yield part;
      }
    } catch (error) {
      call.signal.throwIfAborted();
      throw error;
    } finally {
      answer.close();
    }
  }
  return { kind: endpoint.kind, stream };
}

async function* readAnswer(answer: HttpAnswer): AsyncGenerator<StreamPart> {
  const type = answer.headers["content-type"] ?? "";
  yield* /\bjson\b/i.test(type) ? readWhole(answer) : readStream(answer);
}

/** Some servers ignore `stream` and send the completion in one piece. */
async function* readWhole(answer: HttpAnswer): AsyncGenerator<StreamPart> {
  const body = await readBody(answer.chunks, JSON_BODY_LIMIT);
  const completion = body.isCut ? undefined : parseJson(body.text);
  if (!isObject(completion)) throw badResponse("The provider's answer is not a JSON object.");
  if (isErrorChunk(completion)) throw classifyError({ status: null, body: body.text, retryAfterMs: null });
  const reader = createCompletionReader();
  yield* reader.accept(completion);
  reader.done();
  yield* reader.finish();
}
