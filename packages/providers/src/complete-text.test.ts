import { expect, test } from "vitest";
import { completeText } from "./complete-text.ts";
import type { Provider, StreamCall, StreamPart } from "./provider.ts";

const call: StreamCall = {
  target: { baseUrl: "", apiKey: null, allowPrivateNetwork: false },
  request: { model: "m", messages: [], max_tokens: 10 },
  signal: new AbortController().signal,
  connectTimeoutMs: 1,
  idleTimeoutMs: 1,
};

function streaming(...parts: readonly StreamPart[]): Provider {
  return {
    kind: "test",
    async *stream() {
      yield* parts;
    },
  };
}

test("joins the text and keeps the last report of usage; reasoning is passed over", async () => {
  const provider = streaming(
    { type: "reasoning", delta: "Hm." },
    { type: "text", delta: "One " },
    { type: "text", delta: "two." },
    { type: "usage", inputTokens: 1, outputTokens: 1, cacheReadTokens: null },
    { type: "usage", inputTokens: 7, outputTokens: 2, cacheReadTokens: null },
    { type: "end", finishReason: "stop" },
  );
  expect(await completeText(provider, call)).toEqual({ text: "One two.", usage: { inputTokens: 7, outputTokens: 2 } });
});

test("a reply without an end is given up", async () => {
  const long = Array.from({ length: 5 }, (): StreamPart => ({ type: "reasoning", delta: "x".repeat(100_000) }));
  await expect(completeText(streaming(...long), call)).rejects.toMatchObject({ code: "PROVIDER_BAD_RESPONSE" });
});

test("an abort between two parts ends it with the signal's reason", async () => {
  const controller = new AbortController();
  const provider: Provider = {
    kind: "test",
    async *stream() {
      yield { type: "text", delta: "One" };
      controller.abort(new Error("cancelled"));
      yield { type: "text", delta: "two" };
    },
  };
  await expect(completeText(provider, { ...call, signal: controller.signal })).rejects.toThrow("cancelled");
});
