import { inflateSync } from "node:zlib";
import { findChatAudit, findGeneration, newId, requestCancel, withTenant } from "@shiftwork/db";
import { insertTestGeneration, insertTestMessage, type TestChat } from "@shiftwork/db/testing";
import type { AuditDocument, SamplingParameters } from "@shiftwork/pipeline";
import { startFakeOpenAi, type FakeOpenAi, type FakeReply } from "@shiftwork/providers/testing";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { openBench, type Bench } from "../testing/worker-under-test.ts";

let bench: Bench;
const fakes: FakeOpenAi[] = [];
/** Requests are counted here: none may be sent twice because the machine was too busy for a sign of life. */
const PATIENT = { WORKER_DEAD_AFTER_MS: 30_000 };

beforeAll(async () => {
  bench = await openBench(inject("databaseUrl"), inject("redisUrl"));
  await bench.startWorker(PATIENT);
});

afterEach(async () => {
  await Promise.all(fakes.splice(0).map((fake) => fake.close()));
});

afterAll(() => bench.close());

async function fakeProvider(options: Parameters<typeof startFakeOpenAi>[0]): Promise<FakeOpenAi> {
  const fake = await startFakeOpenAi(options);
  fakes.push(fake);
  return fake;
}

const inTenant = <T>(chat: TestChat, work: Parameters<typeof withTenant<T>>[2]): Promise<T> =>
  withTenant(bench.api.db, chat.tenantId, work);
const generation = (chat: TestChat, id: string) => inTenant(chat, (tx) => findGeneration(tx, chat.tenantId, id));
const rows = (chat: TestChat) =>
  inTenant(chat, (tx) =>
    tx.selectFrom("messages").selectAll().where("tenant_id", "=", chat.tenantId).orderBy("seq").execute(),
  );

async function auditOf(chat: TestChat): Promise<AuditDocument> {
  const { finished, prepared } = await inTenant(chat, (tx) => findChatAudit(tx, chat.tenantId, chat.chatId));
  expect(prepared).toBeNull();
  return JSON.parse(inflateSync(finished!.document).toString());
}

/** A chat of 20 long messages and a question. */
async function longChat(fake: FakeOpenAi): Promise<TestChat> {
  const chat = await bench.chatWith(fake.baseUrl);
  const say = (seq: number, role: "user" | "assistant", content: string, id = newId()) =>
    inTenant(chat, (tx) => insertTestMessage(tx, chat, { id, seq, role, content }));
  for (let seq = 2; seq <= 20; seq += 1) {
    await say(seq, seq % 2 === 0 ? "assistant" : "user", `Message ${seq}. ${"The tide took three lamps. ".repeat(8)}`);
  }
  const inputMessageId = newId();
  await say(21, "user", "And now?", inputMessageId);
  return { ...chat, inputMessageId };
}

const send = (chat: TestChat, strategy = "truncate", parameters: SamplingParameters = {}) =>
  insertTestGeneration(bench.api.db, chat, 60_000, {
    strategy,
    request: { budget: { contextLimit: 1_000, reservedForReply: 100 }, parameters },
  });

const REPLY: FakeReply = { kind: "words", words: ["Aye."] };
const tooLong = (message: string): FakeReply => ({ kind: "error", status: 400, body: { error: { message } } });
const TOO_LONG = tooLong("Please reduce the length of the messages or completion.");

describe("a prompt the provider finds too long", () => {
  it.each<[string, FakeReply]>([
    ["an error", TOO_LONG],
    ["413", { kind: "error", status: 413 }],
    ["an error in the stream", { kind: "stream-error", error: { code: "context_length_exceeded" } }],
  ])(
    "by %s is shifted once more, smaller, sent once more, and both requests are in the audit",
    async (_what, first) => {
      const fake = await fakeProvider({ script: [first, REPLY] });
      const chat = await longChat(fake);
      const id = await send(chat);
      const events = await bench.ended(chat, id);
      expect(fake.requests).toHaveLength(2);
      const [refused, sent] = fake.requests.map(({ body }) => body.messages);
      expect(sent!.length).toBeLessThan(refused!.length);
      expect(sent!.at(-1)).toEqual(refused!.at(-1));
      const document = await auditOf(chat);
      expect(JSON.stringify(document.providerRequest)).toBe(fake.requests[1]!.rawBody);
      expect(document.refusedRequests?.map((request) => JSON.stringify(request))).toEqual([fake.requests[0]!.rawBody]);
      const { detail } = document.diagnostics.find(({ code }) => code === "overflow")!;
      expect(detail).toMatchObject({
        contextLimit: 1_000,
        budgetTokens: 900,
        newBudgetTokens: document.budget.budgetTokens,
      });
      expect(document.budget.promptTokens).toBeLessThan(detail["promptTokens"] as number);
      expect(await generation(chat, id)).toMatchObject({
        status: "completed",
        attempts: 1,
        context: { promptTokens: document.budget.promptTokens, contextLimit: document.budget.contextLimit },
      });
      const types = events.map(({ type }) => type).filter((type) => /retrying|prepared/.test(type));
      expect(types).toEqual(["context.prepared", "generation.retrying", "context.prepared"]);
      expect(events.find(({ type }) => type === "generation.retrying")?.data).toEqual({
        attempt: 1,
        errorCode: "PROVIDER_CONTEXT_LENGTH",
        nextAttemptAt: null,
        resetOutput: false,
      });
      // The question is neither lost nor doubled.
      expect((await rows(chat)).slice(-2).map(({ content }) => content)).toEqual(["And now?", "Aye."]);
    },
  );

  it("is fitted to the window the provider named", async () => {
    const fake = await fakeProvider({
      script: [tooLong("This model's maximum context length is 512 tokens. However, you requested more."), REPLY],
    });
    const chat = await longChat(fake);
    await bench.ended(chat, await send(chat));
    const { budget, diagnostics } = await auditOf(chat);
    expect(budget).toMatchObject({ contextLimit: 512, reservedForReply: 100 });
    expect(diagnostics.find(({ code }) => code === "overflow")?.detail["toldLimitTokens"]).toBe(512);
    expect(budget.promptTokens! + fake.requests[1]!.body.max_tokens).toBeLessThanOrEqual(512);
  });

  it("twice ends the generation after two requests", async () => {
    const fake = await fakeProvider({ script: TOO_LONG });
    const chat = await longChat(fake);
    const id = await send(chat);
    await bench.ended(chat, id);
    expect(fake.requests).toHaveLength(2);
    expect(await generation(chat, id)).toMatchObject({
      status: "failed",
      errorCode: "PROVIDER_CONTEXT_LENGTH",
      attempts: 1,
    });
    expect((await auditOf(chat)).refusedRequests).toHaveLength(1);
    expect((await rows(chat)).filter(({ content }) => content === "And now?")).toHaveLength(1);
  });

  it("and cannot be made shorter fails with what has to stay, after one request", async () => {
    const fake = await fakeProvider({ script: [tooLong("maximum context length is 101 tokens"), REPLY] });
    const chat = await longChat(fake);
    const id = await send(chat);
    await bench.ended(chat, id);
    expect(fake.requests).toHaveLength(1);
    const row = await generation(chat, id);
    expect(row).toMatchObject({
      status: "failed",
      errorCode: "PROVIDER_CONTEXT_LENGTH",
      error: { params: { protectedTokens: expect.any(Number), largest: expect.any(Array) } },
    });
    const document = await auditOf(chat);
    expect(JSON.stringify(document.providerRequest)).toBe(fake.requests[0]!.rawBody);
    expect(document.diagnostics.map(({ code }) => code)).toContain("overflow");
  });

  it("is resent even when the resend first fails in passing", async () => {
    const fake = await fakeProvider({
      script: [{ kind: "error", status: 503 }, TOO_LONG, { kind: "error", status: 503 }, REPLY],
    });
    const chat = await longChat(fake);
    const id = await send(chat);
    const events = await bench.ended(chat, id);
    expect(events.at(-1)?.type).toBe("generation.completed");
    expect(fake.requests[3]!.rawBody).toBe(fake.requests[2]!.rawBody);
    const codes = events.flatMap((event) => (event.type === "generation.retrying" ? [event.data.errorCode] : []));
    expect(codes).toEqual(["PROVIDER_UNAVAILABLE", "PROVIDER_CONTEXT_LENGTH", "PROVIDER_UNAVAILABLE"]);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  });

  it("is written a summary for only once", async () => {
    const isSummary = (body: string): boolean => body.includes("<transcript>");
    let replies = 0;
    const fake = await fakeProvider({
      handler: ({ rawBody }) => {
        if (isSummary(rawBody)) return { kind: "words", words: ["The keeper lit the lamp."] };
        replies += 1;
        return replies === 1 ? TOO_LONG : REPLY;
      },
    });
    const chat = await longChat(fake);
    const id = await send(chat, "compress");
    expect((await bench.ended(chat, id)).at(-1)?.type).toBe("generation.completed");
    const kinds = fake.requests.map(({ rawBody }) => (isSummary(rawBody) ? "summary" : "reply"));
    expect(kinds).toEqual(["summary", "reply", "reply"]);
  });

  it("cancelled while it is sent again ends cancelled", async () => {
    const fake = await fakeProvider({ script: [TOO_LONG, { kind: "hang-before-headers" }] });
    const chat = await longChat(fake);
    const id = await send(chat);
    const second = await fake.received(1);
    await inTenant(chat, (tx) => requestCancel(tx, chat.tenantId, id, null));
    await second.clientClosed;
    expect((await bench.ended(chat, id)).at(-1)?.type).toBe("generation.cancelled");
    expect((await auditOf(chat)).refusedRequests).toHaveLength(1);
  });
});

describe("a rate limit that speaks of tokens", () => {
  it("shifts nothing", async () => {
    const body = "Request too large for model on tokens per min: limit 30000, requested 31000. Tokens must be reduced.";
    const fake = await fakeProvider({ script: [{ kind: "error", status: 429, body }, REPLY] });
    const chat = await longChat(fake);
    await bench.ended(chat, await send(chat));
    expect(fake.requests[1]!.rawBody).toBe(fake.requests[0]!.rawBody);
  });
});

describe("a request that is sent again unchanged", () => {
  async function failedTurn(script: readonly FakeReply[]) {
    const fake = await fakeProvider({ script });
    const chat = await longChat(fake);
    // As JSON in the database the request would have its keys in another order.
    const id = await send(chat, "truncate", { stop: ["END"], topP: 0.9 });
    await bench.ended(chat, id);
    return { fake, chat, id, document: await auditOf(chat) };
  }
  const replay = (chat: TestChat, request: AuditDocument["providerRequest"]) =>
    insertTestGeneration(bench.api.db, chat, 60_000, { replay: request! });

  it("goes out byte for byte, and its audit says whose it is", async () => {
    const { fake, chat, id, document } = await failedTurn([{ kind: "error", status: 401 }, REPLY]);
    await inTenant(chat, (tx) =>
      tx.updateTable("messages").set({ content: "Changed." }).where("tenant_id", "=", chat.tenantId).execute(),
    );
    const again = await replay(chat, document.providerRequest);
    const events = await bench.ended(chat, again);
    expect(events.at(-1)?.type).toBe("generation.completed");
    expect(events.map(({ type }) => type)).toContain("context.prepared");
    expect(fake.requests.at(-1)!.rawBody).toBe(fake.requests[0]!.rawBody);
    const audit = await auditOf(chat);
    expect(audit).toMatchObject({ blocks: document.blocks, counts: document.counts, stages: [] });
    expect(audit.diagnostics[0]).toEqual({ code: "replayed", stage: "serialize", detail: { generationId: id } });
    expect(await generation(chat, again)).toMatchObject({
      status: "completed",
      stages: [],
      context: { promptTokens: document.budget.promptTokens, assemblyHash: document.assemblyHash },
    });
  });

  it("that is too long fails: it is not shifted", async () => {
    const { fake, chat, document } = await failedTurn([{ kind: "error", status: 401 }, TOO_LONG, REPLY]);
    const again = await replay(chat, document.providerRequest);
    await bench.ended(chat, again);
    expect(fake.requests).toHaveLength(2);
    expect(await generation(chat, again)).toMatchObject({ status: "failed", errorCode: "PROVIDER_CONTEXT_LENGTH" });
  });

  it("that fails in passing is sent again, unchanged still", async () => {
    const { fake, chat, document } = await failedTurn([
      { kind: "error", status: 401 },
      { kind: "error", status: 503 },
      REPLY,
    ]);
    await bench.ended(chat, await replay(chat, document.providerRequest));
    expect(new Set(fake.requests.map(({ rawBody }) => rawBody)).size).toBe(1);
    expect(fake.requests).toHaveLength(3);
  });

  it("whose audit is gone is not sent", async () => {
    const { fake, chat, document } = await failedTurn([{ kind: "error", status: 401 }, REPLY]);
    await inTenant(chat, (tx) =>
      tx.deleteFrom("prompt_context_audits").where("tenant_id", "=", chat.tenantId).execute(),
    );
    const again = await replay(chat, document.providerRequest);
    await bench.ended(chat, again);
    expect(await generation(chat, again)).toMatchObject({ status: "failed", errorCode: "AUDIT_NOT_AVAILABLE" });
    expect(fake.requests).toHaveLength(1);
  });
});
