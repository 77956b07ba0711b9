import type { StreamCall, StreamPart } from "../provider.ts";

/** A complete call for tests; `changes` replaces what the test is about. Time-outs are long: tests wait for signals. */
export function callOf(changes: Partial<StreamCall> & { readonly baseUrl?: string } = {}): StreamCall {
  const { baseUrl = "", ...rest } = changes;
  return {
    target: { baseUrl, apiKey: "sk-test-secret", allowPrivateNetwork: true },
    request: { model: "test-model", max_tokens: 64, messages: [{ role: "user", content: "Hello" }] },
    signal: new AbortController().signal,
    connectTimeoutMs: 60_000,
    idleTimeoutMs: 60_000,
    ...rest,
  };
}

/** All parts of a stream. Throws what the stream throws. */
export async function collect(stream: AsyncIterable<StreamPart>): Promise<StreamPart[]> {
  const parts: StreamPart[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

/** The reply: its text deltas, joined. */
export function textOf(parts: readonly StreamPart[]): string {
  return parts.map((part) => (part.type === "text" ? part.delta : "")).join("");
}
