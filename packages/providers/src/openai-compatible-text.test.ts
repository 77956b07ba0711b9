import { afterEach, describe, expect, it } from "vitest";
import { createOpenAiCompatibleText } from "./openai-compatible-text.ts";
import { startFakeOpenAi, type FakeOpenAi, type FakeReply } from "./testing/index.ts";
import { callOf, collect, textOf } from "./testing/stream-call.ts";
import { wireBody } from "./wire-body.ts";

let server: FakeOpenAi | null = null;
afterEach(async () => {
  await server?.close();
  server = null;
});

const request = { model: "local", prompt: "<|im_start|>user\nHi<|im_end|>\n", max_tokens: 9, stop: ["<|im_end|>"] };

async function asking(script?: FakeReply) {
  server = await startFakeOpenAi(script === undefined ? {} : { script });
  const call = callOf({ baseUrl: server.baseUrl, request });
  return { server, parts: collect(createOpenAiCompatibleText().stream(call)) };
}

describe("openai-compatible-text", () => {
  it("posts the rendered prompt to /completions, byte for byte, with the key", async () => {
    const { server: asked, parts } = await asking();
    await parts;
    expect(asked.requests.map(({ path, prompt, rawBody }) => ({ path, prompt, rawBody }))).toEqual([
      { path: "/v1/completions", prompt: request.prompt, rawBody: wireBody(request) },
    ]);
    expect(asked.requests[0]?.headers.authorization).toBe("Bearer sk-test-secret");
    expect(JSON.parse(asked.requests[0]?.rawBody ?? "")).toMatchObject({ stop: ["<|im_end|>"], stream: true });
  });

  it("streams the text of the choices, with finish reason and usage", async () => {
    const { parts } = await asking({ kind: "words", words: ["The ", "tide ", "rose."], finishReason: "length" });
    const streamed = await parts;
    expect(textOf(streamed)).toBe("The tide rose.");
    expect(streamed.filter(({ type }) => type === "text")).toHaveLength(3);
    expect(streamed).toContainEqual({ type: "usage", inputTokens: 10, outputTokens: 3, cacheReadTokens: null });
    expect(streamed.at(-1)).toEqual({ type: "end", finishReason: "length" });
  });

  it("reads a completion that comes in one piece", async () => {
    const body = { object: "text_completion", choices: [{ index: 0, text: "Whole.", finish_reason: "stop" }] };
    const { parts } = await asking({ kind: "json", body });
    expect(textOf(await parts)).toBe("Whole.");
  });

  it.each([
    ["a broken-off stream", { kind: "cut", words: ["The "] }, "PROVIDER_STREAM_INTERRUPTED"],
    ["an empty reply", { kind: "words", words: [] }, "EMPTY_COMPLETION"],
    ["an error", { kind: "error", status: 401 }, "PROVIDER_AUTH_FAILED"],
  ] as const)("reports %s as chat completions do", async (_name, script, code) => {
    const { parts } = await asking(script);
    await expect(parts).rejects.toMatchObject({ code });
  });
});
