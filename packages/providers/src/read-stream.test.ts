import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StreamPart } from "./provider.ts";
import { readStream } from "./read-stream.ts";
import { collect, textOf } from "./testing/stream-call.ts";

function readPieces(pieces: readonly Uint8Array[]): Promise<StreamPart[]> {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield* pieces;
  }
  return collect(readStream({ status: 200, headers: {}, chunks: chunks(), waitAtMost() {}, close() {} }));
}
const read = (text: string) => readPieces([Buffer.from(text)]);
const event = (chunk: object) => `data: ${JSON.stringify(chunk)}\n\n`;
const delta = (fields: object, finish_reason: string | null = null) =>
  event({ choices: [{ index: 0, delta: fields, finish_reason }] });
const DONE = "data: [DONE]\n\n";
const END = { type: "end", finishReason: "stop" };

/** Everything at once: BOM, CRLF, comments, multi-line data, reasoning, a call, usage, no blank line at the end. */
const RICH = [
  "\uFEFF: keep-alive\r\n\r\n",
  'data: {"choices":[{"delta":{"role":"assistant","content":""}}]}\r\n\r\n',
  'data: {"choices":[{"delta":{"reasoning_content":"hm… 🤔"}}]}\n\n',
  'event: message\r\ndata: {"choices":\r\ndata: [{"delta":{"content":"你好世界 🌍"}}]}\r\n\r\n',
  'id: 7\rdata:{"choices":[{"delta":{"content":"é\\ud83d"}}]}\r\r',
  'data: {"choices":[{"delta":{"content":"\\ude00!"}}]}\n\n',
  'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"find","arguments":"{\\"q\\":"}}]}}]}\n\n',
  'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\\"ü\\"}"}}]}}]}\n\n',
  'data: {"choices":[{"finish_reason":"tool_calls"}]}\n\n',
  'data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"prompt_tokens_details":{"cached_tokens":3}}}\n\n',
  "data: [DONE]",
].join("");
const RICH_PARTS: readonly StreamPart[] = [
  { type: "reasoning", delta: "hm… 🤔" },
  { type: "text", delta: "你好世界 🌍" },
  { type: "text", delta: "é" },
  { type: "text", delta: "😀!" },
  { type: "tool_call", index: 0, id: "c1", name: "find", argumentsDelta: '{"q":' },
  { type: "tool_call", index: 0, id: "c1", name: "find", argumentsDelta: '"ü"}' },
  { type: "usage", inputTokens: 9, outputTokens: 4, cacheReadTokens: 3 },
  { type: "end", finishReason: "tool_calls" },
];

describe("readStream, cutting", () => {
  const bytes = Buffer.from(RICH);

  it("gives the same parts when cut in two at any byte", async () => {
    for (let at = 0; at <= bytes.length; at += 1) {
      expect(await readPieces([bytes.subarray(0, at), bytes.subarray(at)])).toEqual(RICH_PARTS);
    }
  });

  it("gives the same parts for single bytes", async () => {
    expect(await readPieces([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(RICH_PARTS);
  });

  it("gives the same parts for every random split", async () => {
    const cuts = fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(cuts, async (points) => {
        const edges = [0, ...points.sort((a, b) => a - b), bytes.length];
        const pieces = edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
        expect(await readPieces(pieces)).toEqual(RICH_PARTS);
      }),
      { seed: 20260102, numRuns: 200 },
    );
  });

  it("never takes a truncated stream for a complete one, nor fails by anything but an interruption", async () => {
    const endMark = bytes.indexOf('data: {"choices":[{"finish_reason":"tool_calls"}]}') + 50;
    for (let at = 0; at < endMark; at += 1) {
      await expect(readPieces([bytes.subarray(0, at)])).rejects.toMatchObject({ code: "PROVIDER_STREAM_INTERRUPTED" });
    }
  });
});

describe("readStream, end marks", () => {
  it("accepts finish_reason without [DONE], and [DONE] without finish_reason", async () => {
    expect(await read(delta({ content: "Hi" }, "length"))).toEqual([
      { type: "text", delta: "Hi" },
      { type: "end", finishReason: "length" },
    ]);
    expect(await read(delta({ content: "Hi" }) + DONE)).toEqual([{ type: "text", delta: "Hi" }, END]);
  });

  it("ignores everything behind [DONE]", async () => {
    const parts = await read(delta({ content: "Hi" }) + DONE + delta({ content: "again" }) + event({ error: "late" }));
    expect(parts).toEqual([{ type: "text", delta: "Hi" }, END]);
  });

  it("takes a connection that breaks behind finish_reason for a complete reply", async () => {
    async function* chunks(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(delta({ content: "Hi" }, "stop"));
      throw new Error("reset");
    }
    const answer = { status: 200, headers: {}, chunks: chunks(), waitAtMost() {}, close() {} };
    expect(textOf(await collect(readStream(answer)))).toBe("Hi");
  });
});

describe("readStream, empty and blank replies", () => {
  it("names the reply that was spent on reasoning", async () => {
    const stream = delta({ reasoning_content: "hm ".repeat(200) }) + delta({}, "length") + DONE;
    await expect(read(stream)).rejects.toMatchObject({
      code: "EMPTY_COMPLETION",
      retryable: false,
      message: expect.stringContaining("reasoning") as string,
    });
  });

  it("streams nothing of a blank reply and calls it empty", async () => {
    const parts: StreamPart[] = [];
    const run = async () => {
      async function* chunks(): AsyncGenerator<Uint8Array> {
        yield Buffer.from(delta({ content: "\n" }) + delta({ content: " \n" }, "stop") + DONE);
      }
      const answer = { status: 200, headers: {}, chunks: chunks(), waitAtMost() {}, close() {} };
      for await (const part of readStream(answer)) parts.push(part);
    };
    await expect(run()).rejects.toMatchObject({ code: "EMPTY_COMPLETION" });
    expect(parts).toEqual([]);
  });

  it("keeps leading white space of a reply that is not blank", async () => {
    expect(textOf(await read(delta({ content: "\n " }) + delta({ content: "Hi" }, "stop")))).toBe("\n Hi");
  });

  it("names the content filter", async () => {
    const stream = delta({ content: "So " }) + delta({}, "content_filter") + DONE;
    await expect(read(stream)).rejects.toMatchObject({ code: "PROVIDER_CONTENT_FILTERED", retryable: false });
  });
});

describe("readStream, odd chunks", () => {
  it("survives every field missing, null or of another type", async () => {
    const odd = [
      {},
      { choices: null },
      { choices: [null] },
      { choices: [{}] },
      { choices: [{ delta: null }] },
      { choices: [{ delta: { content: null, tool_calls: null, reasoning: {} } }] },
      { choices: [{ delta: { content: 5, tool_calls: [null, 3, {}] }, finish_reason: 1 }] },
      { choices: "x", usage: { prompt_tokens: "9", completion_tokens: -1 } },
    ];
    const parts = await read(odd.map(event).join("") + delta({ content: "ok" }, "stop"));
    expect(textOf(parts)).toBe("ok");
    expect(parts).toContainEqual({ type: "usage", inputTokens: null, outputTokens: null, cacheReadTokens: null });
  });

  it("reads only the first choice", async () => {
    const stream = event({
      choices: [
        { index: 1, delta: { content: "second" } },
        { index: 0, delta: { content: "first" } },
      ],
    });
    expect(textOf(await read(stream + DONE))).toBe("first");
  });

  it("reports usage that repeats in every chunk once per change", async () => {
    const usage = { prompt_tokens: 5, completion_tokens: 1 };
    const stream = event({ choices: [{ delta: { content: "a" } }], usage }) + event({ choices: [], usage }) + DONE;
    expect((await read(stream)).filter((part) => part.type === "usage")).toHaveLength(1);
  });

  it("tells calls apart that share index 0, have no index, or no id", async () => {
    const call = (fields: object) => delta({ tool_calls: [fields] });
    const named = (name: string, rest: object = {}) => ({ function: { name, arguments: "{}" }, ...rest });
    const ids = async (stream: string) =>
      (await read(stream + DONE)).map((part) => (part.type === "tool_call" ? [part.index, part.id, part.name] : null));
    const shared = call(named("a", { index: 0, id: "x" })) + call(named("b", { index: 0, id: "y" }));
    expect((await ids(shared)).slice(0, 2)).toEqual([
      [0, "x", "a"],
      [1, "y", "b"],
    ]);
    expect(
      (await ids(call(named("a")) + call({ function: { arguments: "" } }) + call(named("b")))).slice(0, 3),
    ).toEqual([
      [0, "call_0", "a"],
      [0, "call_0", "a"],
      [1, "call_1", "b"],
    ]);
  });

  it("replaces half a character that stays alone", async () => {
    expect(textOf(await read('data: {"choices":[{"delta":{"content":"a\\ud83d"}}]}\n\n' + DONE))).toBe("a\uFFFD");
  });
});

describe("readStream, errors in a stream that began with 200", () => {
  it.each([
    [event({ error: { code: "context_length_exceeded" } }), "PROVIDER_CONTEXT_LENGTH"],
    [event({ error: { type: "rate_limit_error", message: "maximum context length" } }), "PROVIDER_RATE_LIMITED"],
    [event({ type: "error", error: { type: "overloaded_error" } }), "PROVIDER_UNAVAILABLE"],
    [event({ object: "error", message: "prompt is too long", code: 400 }), "PROVIDER_CONTEXT_LENGTH"],
    ["event: error\ndata: something broke\n\n", "PROVIDER_STREAM_INTERRUPTED"],
    ["data: Internal Server Error\n\n", "PROVIDER_BAD_RESPONSE"],
    [delta({}, "error"), "PROVIDER_STREAM_INTERRUPTED"],
  ])("%s → %s", async (stream, code) => {
    await expect(read(delta({ content: "So" }) + stream)).rejects.toMatchObject({ code });
  });

  it("refuses an event that is too long to be one", async () => {
    const piece = Buffer.from("x".repeat(600_000));
    await expect(readPieces([Buffer.from("data: "), piece, piece])).rejects.toMatchObject({
      code: "PROVIDER_BAD_RESPONSE",
    });
  });
});

describe("readStream, what no database stores", () => {
  it("makes ids, names, arguments and the finish reason well-formed, and joins a pair that was cut", async () => {
    const half = "\\ud83d";
    const parts = await read(
      [
        `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c${half}","function":{"name":"f${half}","arguments":"${half}"}}]}}]}\n\n`,
        'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\\ude00"}}]}}]}\n\n',
        `data: {"choices":[{"finish_reason":"stop${half}"}]}\n\n`,
      ].join(""),
    );
    expect(parts).toEqual([
      { type: "tool_call", index: 0, id: "c\uFFFD", name: "f\uFFFD", argumentsDelta: "" },
      { type: "tool_call", index: 0, id: "c\uFFFD", name: "f\uFFFD", argumentsDelta: "😀" },
      { type: "end", finishReason: "stop\uFFFD" },
    ]);
  });

  it("takes a number of tokens that no window holds for unknown", async () => {
    const usage = { prompt_tokens: 3_000_000_000, completion_tokens: 2_147_483_647 };
    const parts = await read(delta({ content: "x" }, "stop") + event({ choices: [], usage }) + DONE);
    expect(parts).toContainEqual({
      type: "usage",
      inputTokens: null,
      outputTokens: 2_147_483_647,
      cacheReadTokens: null,
    });
  });
});
