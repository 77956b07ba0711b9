import { findChatAudit, findGeneration, requestCancel, withTenant } from "@shiftwork/db";
import { insertTestGeneration, type TestChat } from "@shiftwork/db/testing";
import type { GenerationEvent } from "@shiftwork/contracts";
import { startFakeOpenAi, type FakeOpenAi, type FakeReply } from "@shiftwork/providers/testing";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { openBench, type Bench } from "../testing/worker-under-test.ts";
import type { RunningWorker } from "../worker.ts";

let bench: Bench;
let worker: RunningWorker | null = null;
const fakes: FakeOpenAi[] = [];
/** Requests are counted here: none may be sent twice because the machine was too busy for a sign of life. */
const PATIENT = { WORKER_DEAD_AFTER_MS: 30_000 };

beforeAll(async () => {
  bench = await openBench(inject("databaseUrl"), inject("redisUrl"));
});

afterEach(async () => {
  await worker?.stop(0);
  worker = null;
  await Promise.all(fakes.splice(0).map((fake) => fake.close()));
});

afterAll(() => bench.close());

const IN_PLACE = { PROVIDER_WAIT_IN_PLACE_MS: 600_000 };
const RELEASING = { PROVIDER_WAIT_IN_PLACE_MS: 1 };

async function run(
  script: FakeReply | readonly FakeReply[],
  settings: Parameters<Bench["startWorker"]>[0] = {},
  deadlineMs = 60_000,
): Promise<{ fake: FakeOpenAi; chat: TestChat; id: string }> {
  const fake = await startFakeOpenAi({ script });
  fakes.push(fake);
  worker ??= await bench.startWorker({ ...PATIENT, ...settings });
  const chat = await bench.chatWith(fake.baseUrl);
  return { fake, chat, id: await insertTestGeneration(bench.api.db, chat, deadlineMs) };
}

const inTenant = <T>(chat: TestChat, work: Parameters<typeof withTenant<T>>[2]): Promise<T> =>
  withTenant(bench.api.db, chat.tenantId, work);
const generation = (chat: TestChat, id: string) => inTenant(chat, (tx) => findGeneration(tx, chat.tenantId, id));
const cancel = (chat: TestChat, id: string) => inTenant(chat, (tx) => requestCancel(tx, chat.tenantId, id, null));
const attempts = (chat: TestChat, id: string) =>
  inTenant(chat, (tx) =>
    tx
      .selectFrom("generation_attempts")
      .selectAll()
      .where("tenant_id", "=", chat.tenantId)
      .where("generation_id", "=", id)
      .execute(),
  );
const replies = (chat: TestChat) =>
  inTenant(chat, (tx) =>
    tx
      .selectFrom("messages")
      .selectAll()
      .where("tenant_id", "=", chat.tenantId)
      .where("role", "=", "assistant")
      .execute(),
  );

const error = (status: number, headers: Record<string, string> = {}): FakeReply => ({ kind: "error", status, headers });
const told = (seconds: number): FakeReply => error(429, { "retry-after": String(seconds) });
const REPLY: FakeReply = { kind: "words", words: ["Aye."] };
const isRetrying = (event: GenerationEvent) => event.type === "generation.retrying";
const retries = (events: readonly GenerationEvent[]) =>
  events.flatMap((event) => (event.type === "generation.retrying" ? [event.data] : []));

describe("a request that fails before its first token", () => {
  it.each<[string, FakeReply, string]>([
    ["429", error(429), "PROVIDER_RATE_LIMITED"],
    ["a server error", error(500), "PROVIDER_UNAVAILABLE"],
    ["a gateway's time-out", error(504), "PROVIDER_TIMEOUT"],
    ["a connection that breaks", { kind: "cut", words: [] }, "PROVIDER_STREAM_INTERRUPTED"],
    ["a stream without its end mark", { kind: "no-end-mark", words: [] }, "PROVIDER_STREAM_INTERRUPTED"],
    [
      "an error inside a 200 stream",
      { kind: "stream-error", error: { type: "overloaded_error" } },
      "PROVIDER_UNAVAILABLE",
    ],
    ["silence before the headers", { kind: "hang-before-headers" }, "PROVIDER_TIMEOUT"],
    ["silence before the first token", { kind: "hang-before-first-token" }, "PROVIDER_TIMEOUT"],
  ])("by %s is sent again in the same attempt, and that is announced", async (_what, failure, errorCode) => {
    const { fake, chat, id } = await run([failure, REPLY], { PROVIDER_IDLE_TIMEOUT_MS: 1_000 });
    const events = await bench.ended(chat, id);
    expect(events.at(-1)?.type).toBe("generation.completed");
    expect(retries(events)).toEqual([{ attempt: 1, errorCode, nextAttemptAt: expect.any(String), resetOutput: false }]);
    expect(fake.requests.map(({ rawBody }) => rawBody)).toEqual([fake.requests[0]!.rawBody, fake.requests[0]!.rawBody]);
    expect(await attempts(chat, id)).toMatchObject([{ attempt: 1, fence: 1, outcome: "completed" }]);
    expect(await replies(chat)).toMatchObject([{ content: "Aye." }]);
  });

  it("may have been billed: the attempt keeps what all its requests cost, the generation what its reply cost", async () => {
    const usage = { prompt_tokens: 7, completion_tokens: 2 };
    const billed: FakeReply = { kind: "chunks", chunks: [{ choices: [], usage }], done: false };
    const { chat, id } = await run([billed, REPLY]);
    await bench.ended(chat, id);
    expect(await generation(chat, id)).toMatchObject({ status: "completed", inputTokens: 10, outputTokens: 1 });
    expect(await attempts(chat, id)).toMatchObject([{ input_tokens: 17, output_tokens: 3, cache_read_tokens: null }]);
  });

  it("is sent three times at most, then the generation fails with the provider's code", async () => {
    const { fake, chat, id } = await run(error(503));
    const events = await bench.ended(chat, id);
    expect(fake.requests).toHaveLength(3);
    expect(retries(events)).toHaveLength(2);
    expect(await generation(chat, id)).toMatchObject({
      status: "failed",
      errorCode: "PROVIDER_UNAVAILABLE",
      attempts: 1,
      error: { retryable: true, params: { upstreamStatus: 503 } },
    });
  });

  it("because nobody listens is sent again, and fails in the end", async () => {
    const gone = await startFakeOpenAi();
    await gone.close();
    worker = await bench.startWorker(PATIENT);
    const chat = await bench.chatWith(gone.baseUrl);
    const id = await insertTestGeneration(bench.api.db, chat);
    expect(retries(await bench.ended(chat, id))).toHaveLength(2);
    expect(await generation(chat, id)).toMatchObject({ errorCode: "PROVIDER_UNAVAILABLE" });
  });

  it.each<[string, FakeReply, string]>([
    ["credentials that are refused", error(401), "PROVIDER_AUTH_FAILED"],
    ["an exhausted quota", error(402), "PROVIDER_RATE_LIMITED"],
    ["a request that is not valid", error(422), "PROVIDER_REJECTED_REQUEST"],
    [
      "a content filter",
      { kind: "error", status: 400, body: { error: { code: "content_filter" } } },
      "PROVIDER_CONTENT_FILTERED",
    ],
    ["a redirect", error(302), "PROVIDER_UNAVAILABLE"],
    ["a reply with nothing in it", { kind: "words", words: [] }, "EMPTY_COMPLETION"],
    ["a reply of white space", { kind: "words", words: [" ", "\n"] }, "EMPTY_COMPLETION"],
    [
      "a reply that is all reasoning",
      { kind: "words", words: [], reasoning: ["hm "], finishReason: "length" },
      "EMPTY_COMPLETION",
    ],
  ])("by %s is not sent again", async (_what, failure, errorCode) => {
    const { fake, chat, id } = await run([failure, REPLY]);
    const events = await bench.ended(chat, id);
    expect(await generation(chat, id)).toMatchObject({ status: "failed", errorCode, attempts: 1 });
    expect(fake.requests).toHaveLength(1);
    expect(events.some(isRetrying)).toBe(false);
    expect(await replies(chat)).toEqual([]);
  });
});

describe("a reply that fails behind its first token", () => {
  const reasoned = (rest: object) => ({ choices: [{ index: 0, delta: { reasoning_content: "hm" } }], ...rest });
  const call = { index: 0, id: "c", function: { name: "find", arguments: '{"pla' } };
  it.each<[string, FakeReply, string, string]>([
    ["cut", { kind: "cut", words: ["Half"] }, "PROVIDER_STREAM_INTERRUPTED", "Half"],
    ["without an end mark", { kind: "no-end-mark", words: ["Half"] }, "PROVIDER_STREAM_INTERRUPTED", "Half"],
    ["silent", { kind: "hang-mid-stream", words: ["Half"] }, "PROVIDER_TIMEOUT", "Half"],
    [
      "with an error in the stream",
      { kind: "stream-error", words: ["Half"], error: { type: "overloaded_error" } },
      "PROVIDER_UNAVAILABLE",
      "Half",
    ],
    [
      "with an overflow in the stream",
      { kind: "stream-error", words: ["Half"], error: { code: "context_length_exceeded" } },
      "PROVIDER_CONTEXT_LENGTH",
      "Half",
    ],
    ["in its reasoning", { kind: "chunks", chunks: [reasoned({})], done: false }, "PROVIDER_STREAM_INTERRUPTED", ""],
    [
      "in a tool call",
      { kind: "chunks", chunks: [{ choices: [{ index: 0, delta: { tool_calls: [call] } }] }], done: false },
      "PROVIDER_STREAM_INTERRUPTED",
      "",
    ],
  ])("%s ends the generation; its text is kept and nothing is sent again", async (_what, failure, errorCode, text) => {
    const { fake, chat, id } = await run([failure, REPLY], { PROVIDER_IDLE_TIMEOUT_MS: 1_000 });
    const events = await bench.ended(chat, id);
    expect(await generation(chat, id)).toMatchObject({ status: "failed", errorCode, attempts: 1 });
    expect(fake.requests).toHaveLength(1);
    expect(events.some(isRetrying)).toBe(false);
    const stored = (await replies(chat)).map(({ content, failed, tool_calls }) => ({ content, failed, tool_calls }));
    expect(stored).toEqual(text === "" ? [] : [{ content: text, failed: true, tool_calls: [] }]);
  });
});

describe("a wait spent on the slot", () => {
  async function waiting() {
    const started = await run([told(60), REPLY], IN_PLACE, 300_000);
    const events = await bench.eventsUntil(started.chat, started.id, isRetrying);
    return { ...started, nextAttemptAt: Date.parse(retries(events)[0]!.nextAttemptAt!) };
  }

  it("is as long as the provider said", async () => {
    const before = Date.now();
    const { nextAttemptAt } = await waiting();
    expect(nextAttemptAt - before).toBeGreaterThanOrEqual(60_000);
  });

  it("is ended at once by a cancel, and nothing is sent any more", async () => {
    const { fake, chat, id } = await waiting();
    expect((await cancel(chat, id)).outcome).toBe("signalled");
    expect((await bench.ended(chat, id)).at(-1)?.type).toBe("generation.cancelled");
    expect(fake.requests).toHaveLength(1);
    expect((await inTenant(chat, (tx) => findChatAudit(tx, chat.tenantId, chat.chatId))).finished).toMatchObject({
      generationId: id,
      status: "cancelled",
    });
  });

  it("is ended at once by a drain: the run goes back with its attempt, not to be started sooner", async () => {
    const { chat, id, nextAttemptAt } = await waiting();
    await worker!.stop(0);
    const row = await generation(chat, id);
    expect(row).toMatchObject({ status: "queued", attempts: 0 });
    expect(Math.abs(row!.notBefore!.getTime() - nextAttemptAt)).toBeLessThan(2_000);
    expect(await attempts(chat, id)).toEqual([]);
    await cancel(chat, id);
  });

  it("that would pass the deadline is not begun: the generation fails with the provider's code", async () => {
    const { chat, id } = await run([told(60), REPLY], IN_PLACE, 30_000);
    const events = await bench.ended(chat, id);
    expect(events.some(isRetrying)).toBe(false);
    expect(await generation(chat, id)).toMatchObject({
      status: "failed",
      errorCode: "PROVIDER_RATE_LIMITED",
      error: { params: { retryAfterMs: 60_000, upstreamStatus: 429 } },
    });
  });
});

describe("a wait too long for the slot", () => {
  it("gives the slot back without the attempt; the run goes on when it is over", async () => {
    const { fake, chat, id } = await run([told(1), told(1), REPLY], RELEASING);
    const events = await bench.ended(chat, id);
    expect(events.at(-1)?.type).toBe("generation.completed");
    expect(retries(events)).toMatchObject([
      { attempt: 1, errorCode: "PROVIDER_RATE_LIMITED", resetOutput: false },
      { attempt: 1, errorCode: "PROVIDER_RATE_LIMITED", resetOutput: false },
    ]);
    const started = events.filter(({ type }) => type === "generation.started");
    expect(started.map(({ data }) => data)).toMatchObject([{ attempt: 1 }, { attempt: 1 }, { attempt: 1 }]);
    expect(fake.requests).toHaveLength(3);
    expect(await generation(chat, id)).toMatchObject({ attempts: 1 });
    expect(await attempts(chat, id)).toMatchObject([{ attempt: 1, fence: 3, outcome: "completed" }]);
  });

  it("is not given for ever: a provider that says nothing but 'wait' ends the generation", async () => {
    const { fake, chat, id } = await run(told(1), { ...RELEASING, PROVIDER_TOLD_WAITS: 1 });
    await bench.ended(chat, id);
    expect(await generation(chat, id)).toMatchObject({ status: "failed", errorCode: "PROVIDER_RATE_LIMITED" });
    expect(fake.requests).toHaveLength(2);
  });

  it("is ended at once by a cancel, without any worker, and its audit ends with it", async () => {
    const { fake, chat, id } = await run([told(60), REPLY], RELEASING, 300_000);
    await bench.eventsUntil(chat, id, isRetrying);
    expect(await generation(chat, id)).toMatchObject({ status: "queued", notBefore: expect.any(Date) });
    expect((await cancel(chat, id)).outcome).toBe("cancelled");
    const { prepared, finished } = await inTenant(chat, (tx) => findChatAudit(tx, chat.tenantId, chat.chatId));
    expect(prepared).toBeNull();
    expect(finished).toMatchObject({ generationId: id, status: "cancelled" });
    expect(fake.requests).toHaveLength(1);
  });

  it("that would pass the deadline fails at once with the provider's code", async () => {
    const { chat, id } = await run([told(60), REPLY], RELEASING, 30_000);
    await bench.ended(chat, id);
    expect(await generation(chat, id)).toMatchObject({ status: "failed", errorCode: "PROVIDER_RATE_LIMITED" });
  });
});
