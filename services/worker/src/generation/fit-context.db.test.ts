import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { encodeId } from "@shiftwork/contracts";
import {
  findChatAudit,
  findGeneration,
  insertProvider,
  loadAssemblyInput,
  newId,
  requestCancel,
  withTenant,
  type GenerationRequest,
  type ProviderRow,
} from "@shiftwork/db";
import { insertTestGeneration, insertTestMessage, type TestChat } from "@shiftwork/db/testing";
import { profileFor, tokenCounterFor, type AuditDocument } from "@shiftwork/pipeline";
import { startFakeOpenAi, type FakeOpenAi, type FakeReply, type RecordedRequest } from "@shiftwork/providers/testing";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { openBench, type Bench } from "../testing/worker-under-test.ts";
import type { RunningWorker } from "../worker.ts";

const EXAMPLES = ["./examples/plugins/hide-addresses.mjs", "./examples/plugins/last-messages.mjs"];
/** Does not come back from a prompt that asks it to hang. */
const HANGS = `export default { interceptors: [{ id: "hangs", priority: 0, intercept(blocks) {
  while (blocks.some(({ content }) => content === "Hang.")) {}
  return blocks;
} }] };`;
const folder = mkdtempSync(join(tmpdir(), "shiftwork-plugin-"));
const PLUGINS = [...EXAMPLES, join(folder, "hangs.mjs")];
const SUMMARY_TIMEOUT_MS = 3_000;

let bench: Bench;
let worker: RunningWorker;
const fakes: FakeOpenAi[] = [];

beforeAll(async () => {
  writeFileSync(join(folder, "hangs.mjs"), HANGS);
  bench = await openBench(inject("databaseUrl"), inject("redisUrl"));
  worker = await bench.startWorker({ SUMMARY_TIMEOUT_MS }, PLUGINS);
});

afterEach(async () => {
  await Promise.all(fakes.splice(0).map((fake) => fake.close()));
});

afterAll(async () => {
  await bench.close();
  rmSync(folder, { recursive: true });
});

const asksForSummary = ({ rawBody }: Pick<RecordedRequest, "rawBody">): boolean => rawBody.includes("<transcript>");
const SUMMARY = "The keeper lit the lamp and promised to wait.";
const REPLY: FakeReply = { kind: "words", words: ["Aye."] };

/** A provider that gives summaries and replies their own answers. */
async function fakeProvider(answers: { summary?: FakeReply; reply?: FakeReply }): Promise<FakeOpenAi> {
  const { summary = { kind: "words", words: [SUMMARY] }, reply = REPLY } = answers;
  const fake = await startFakeOpenAi({ handler: (request) => (asksForSummary(request) ? summary : reply) });
  fakes.push(fake);
  return fake;
}

const SENTENCE = "The tide took three lamps before dawn, and Mira counted forty-two bells while nobody answered. ";

/** A chat of numbered messages and a last one of the user, which the next generation answers. */
async function chatOf(fake: FakeOpenAi, messages: number, length = 4, sentence = SENTENCE): Promise<TestChat> {
  const chat = await bench.chatWith(fake.baseUrl);
  for (let seq = 2; seq <= messages; seq += 1) {
    const role = seq % 2 === 0 ? "assistant" : "user";
    await say(chat, seq, role, `Message ${seq}. ${sentence.repeat(length)}`);
  }
  return { ...chat, inputMessageId: await say(chat, messages + 1, "user", "And now?") };
}

async function say(chat: TestChat, seq: number, role: "user" | "assistant", content: string): Promise<string> {
  const id = newId();
  await withTenant(bench.api.db, chat.tenantId, (tx) => insertTestMessage(tx, chat, { id, seq, role, content }));
  return id;
}

const SMALL = { budget: { contextLimit: 2_000, reservedForReply: 200 } };

function send(chat: TestChat, strategy: string, request: Partial<GenerationRequest> = {}): Promise<string> {
  return insertTestGeneration(bench.api.db, chat, 60_000, { strategy, request: { ...SMALL, ...request } });
}

const inTenant = <T>(chat: TestChat, work: Parameters<typeof withTenant<T>>[2]): Promise<T> =>
  withTenant(bench.api.db, chat.tenantId, work);
const generation = (chat: TestChat, id: string) => inTenant(chat, (tx) => findGeneration(tx, chat.tenantId, id));
const rowsOf = (chat: TestChat, table: "messages" | "generation_summaries") =>
  inTenant(chat, (tx) => tx.selectFrom(table).selectAll().where("tenant_id", "=", chat.tenantId).execute());

async function auditOf(chat: TestChat): Promise<AuditDocument> {
  const { finished } = await inTenant(chat, (tx) => findChatAudit(tx, chat.tenantId, chat.chatId));
  return JSON.parse(inflateSync(finished!.document).toString()) as AuditDocument;
}

const contentsOf = (request: RecordedRequest | undefined) => request?.body.messages.map(({ content }) => content);

describe("compress", () => {
  it("has the older half summarised by the turn's own model, lists the cost, and leaves no row behind", async () => {
    const fake = await fakeProvider({ summary: { kind: "words", words: ["<think>Hm.</think>", SUMMARY] } });
    const chat = await chatOf(fake, 24);
    const before = await rowsOf(chat, "messages");
    const id = await send(chat, "compress");
    await bench.ended(chat, id);
    expect(await generation(chat, id)).toMatchObject({ status: "completed" });
    const [asked, sent] = fake.requests;
    expect(asked?.body).toMatchObject({ model: "echo-1", max_tokens: 256, messages: [{ role: "user" }] });
    expect(contentsOf(asked)?.[0]).toContain("Message 11.");
    const summaries = contentsOf(sent)?.filter((content) => content?.startsWith("Earlier context summary:"));
    expect(summaries).toEqual([expect.stringContaining(SUMMARY)]);
    expect(sent?.rawBody).not.toContain("Hm.");
    expect(sent?.rawBody).not.toContain("Message 11.");
    expect((await rowsOf(chat, "messages")).filter(({ generation_id: by }) => by === null)).toEqual(before);
    expect(await rowsOf(chat, "messages")).toHaveLength(before.length + 1);
    expect(await rowsOf(chat, "generation_summaries")).toEqual([]);
    const audit = await auditOf(chat);
    expect(audit.counts.summarised).toBeGreaterThan(8);
    expect(audit.diagnostics).toContainEqual({
      code: "summary_written",
      stage: "shift",
      detail: {
        providerId: encodeId("provider", chat.providerId),
        model: "echo-1",
        calls: 1,
        reused: false,
        inputTokens: 10,
        outputTokens: 2,
        durationMs: expect.any(Number),
      },
    });
  });

  it("calls nobody while the history is short", async () => {
    const fake = await fakeProvider({});
    const chat = await chatOf(fake, 6);
    await bench.ended(chat, await send(chat, "compress"));
    expect(fake.requests.map(asksForSummary)).toEqual([false]);
    expect((await auditOf(chat)).diagnostics.filter(({ code }) => code.startsWith("summary"))).toEqual([]);
  });

  it("asks the named provider and model", async () => {
    const [fake, other] = [await fakeProvider({}), await fakeProvider({})];
    const chat = await chatOf(fake, 24);
    const providerId = await addProvider(chat, other.baseUrl);
    const summarizer = { providerId: encodeId("provider", providerId), model: "small" };
    await bench.ended(chat, await send(chat, "compress", { strategyOptions: { summarizer } }));
    expect(other.requests.map(({ body }) => body.model)).toEqual(["small"]);
    expect(fake.requests.map(asksForSummary)).toEqual([false]);
    expect(fake.requests[0]?.rawBody).toContain(SUMMARY);
  });

  it.each([
    ["openai-compatible", "/v1/chat/completions"],
    ["openai-compatible-text", "/v1/completions"],
  ])("never asks a small summariser beyond its window, counted as that model counts (%s)", async (kind, path) => {
    const [fake, other] = [await fakeProvider({}), await fakeProvider({})];
    // Hindi costs cl100k several times what it costs o200k.
    const hindi = "प्रकाशस्तंभ के रखवाले ने भोर से पहले बयालीस घंटियाँ गिनीं और किसी ने उत्तर नहीं दिया। ";
    const chat = await chatOf(fake, 41, 4, hindi);
    const models = [{ model: "gpt-4", contextLimit: 2_000, maxOutputTokens: null }];
    const providerId = await addProvider(chat, other.baseUrl, { kind, models });
    const summarizer = { providerId: encodeId("provider", providerId) };
    const budget = { contextLimit: 5_000, reservedForReply: 200 };
    const id = await send(chat, "compress", { budget, strategyOptions: { summarizer } });
    await bench.ended(chat, id);
    expect(await generation(chat, id)).toMatchObject({ status: "completed" });
    const costs = other.requests.map((request) => costFor("gpt-4", request) + request.body.max_tokens);
    expect(costs.length).toBeGreaterThan(1);
    expect(Math.max(...costs)).toBeLessThanOrEqual(2_000);
    expect(new Set(other.requests.map((request) => request.path))).toEqual(new Set([path]));
    expect(fake.requests.at(-1)?.rawBody).toContain(SUMMARY);
  });

  it.each([
    ["is down", { kind: "error", status: 503 }, "summary_failed"],
    ["is silent for too long", { kind: "hang-before-first-token" }, "summary_timeout"],
    ["answers with nothing but reasoning", { kind: "words", words: ["<think>Hm."] }, "summary_empty"],
  ] as const)("goes on with the originals when the summariser %s", async (_what, summary, code) => {
    const fake = await fakeProvider({ summary });
    const chat = await chatOf(fake, 24);
    const id = await send(chat, "compress");
    await bench.ended(chat, id);
    expect(await generation(chat, id)).toMatchObject({ status: "completed" });
    const audit = await auditOf(chat);
    expect(audit.diagnostics.map((entry) => entry.code)).toEqual(expect.arrayContaining([code, "summary_written"]));
    expect(audit.blocks.some(({ reason }) => reason === "shift_oldest")).toBe(true);
    expect(fake.requests.at(-1)?.rawBody).not.toContain("Earlier context summary");
    expect(fake.requests.at(-1)?.rawBody).toContain("Message 24.");
  });

  it("cancelled during the summariser's call closes its connection and sends nothing", async () => {
    const fake = await fakeProvider({ summary: { kind: "hang-before-headers" } });
    const chat = await chatOf(fake, 24);
    const id = await send(chat, "compress");
    const call = await fake.received(0);
    await inTenant(chat, (tx) => requestCancel(tx, chat.tenantId, id, null));
    await call.clientClosed;
    expect((await bench.ended(chat, id)).at(-1)?.type).toBe("generation.cancelled");
    expect(fake.requests).toHaveLength(1);
    expect((await rowsOf(chat, "messages")).some(({ generation_id: by }) => by !== null)).toBe(false);
  });

  it("pays for one summary when the generation runs again", async () => {
    const fake = await fakeProvider({ reply: { kind: "hang-before-first-token" } });
    const chat = await chatOf(fake, 24);
    const id = await send(chat, "compress");
    await fake.received(1);
    expect(await rowsOf(chat, "generation_summaries")).toMatchObject([{ generation_id: id, text: SUMMARY }]);
    await worker.stop(0);
    worker = await bench.startWorker({ SUMMARY_TIMEOUT_MS }, PLUGINS);
    const again = await fake.received(2);
    expect(fake.requests.map(asksForSummary)).toEqual([true, false, false]);
    expect(again.rawBody).toBe(fake.requests[1]?.rawBody);
    await inTenant(chat, (tx) => requestCancel(tx, chat.tenantId, id, null));
    await bench.ended(chat, id);
    expect(await rowsOf(chat, "generation_summaries")).toEqual([]);
    expect((await auditOf(chat)).diagnostics).toContainEqual(
      expect.objectContaining({ code: "summary_written", detail: expect.objectContaining({ calls: 0, reused: true }) }),
    );
  });
});

function costFor(model: string, { body, prompt }: RecordedRequest): number {
  if (prompt !== null) return profileFor(model).countText(prompt);
  const { countTokens, primingTokens } = tokenCounterFor(model);
  return body.messages.reduce((sum, message) => sum + countTokens(message), primingTokens);
}

async function addProvider(chat: TestChat, baseUrl: string, part: Partial<ProviderRow> = {}): Promise<string> {
  const id = newId();
  const kind = "openai-compatible";
  const row = { name: "other", kind, secret: null, allowPrivateNetwork: true, models: [], ...part };
  await withTenant(bench.admin.db, chat.tenantId, (tx) => insertProvider(tx, chat.tenantId, { id, baseUrl, ...row }));
  return id;
}

describe("lowWater", () => {
  it("keeps the cut of the last completed turn while everything from it on fits", async () => {
    const fake = await fakeProvider({});
    const chat = await chatOf(fake, 40);
    const options = { strategyOptions: { lowWater: 0.5 } };
    const first = await send(chat, "truncate", options);
    await bench.ended(chat, first);
    const next = { ...chat, inputMessageId: await say(chat, 43, "user", "And then?") };
    const load = inTenant(chat, (tx) =>
      loadAssemblyInput(tx, chat.tenantId, {
        chatId: chat.chatId,
        inputMessageId: next.inputMessageId,
        draft: null,
        personaId: null,
        lorebookIds: null,
        window: null,
      }),
    );
    const stored = await load;
    const anchor = stored?.conversation.messages.find(({ id }) => id === stored.anchorId);
    expect(contentsOf(fake.requests[0])).toContain(anchor?.content);
    await bench.ended(chat, await send(next, "truncate", options));
    const [before, after] = fake.requests.map((request) => contentsOf(request) ?? []);
    expect(after?.slice(0, before?.length)).toEqual(before);
    expect(after?.slice(before?.length)).toEqual(["Aye.", "And then?"]);
  });
});

describe("plugins", () => {
  it("change the prompt in the worker: the interceptor's edit is sent and said", async () => {
    const fake = await fakeProvider({});
    const chat = await chatOf(fake, 3);
    await say(chat, 5, "user", "Write to mira@example.org.");
    const input = { ...chat, inputMessageId: await say(chat, 6, "user", "Did you?") };
    await bench.ended(chat, await send(input, "truncate"));
    expect(contentsOf(fake.requests[0])).toContain("Write to [address].");
    expect((await auditOf(chat)).diagnostics.map(({ code }) => code)).toContain("plugin_edited");
  });

  it("that do not come back hold up no other generation of the worker, and the prompt goes without them", async () => {
    const fake = await fakeProvider({});
    const [hung, other] = [await chatOf(fake, 3), await chatOf(fake, 3)];
    const input = { ...hung, inputMessageId: await say(hung, 5, "user", "Hang.") };
    const hanging = bench.ended(input, await send(input, "truncate"));
    const beside = bench.ended(other, await send(other, "truncate"));
    expect(await Promise.race([hanging.then(() => "the one that hangs"), beside.then(() => "the other")])).toBe(
      "the other",
    );
    expect((await hanging).at(-1)?.type).toBe("generation.completed");
    expect((await auditOf(hung)).diagnostics).toContainEqual({
      code: "plugin_timeout",
      stage: "intercept",
      detail: { plugin: "hangs" },
    });
    expect((await auditOf(other)).diagnostics).toEqual([]);
  });

  it("bring strategies: their choice is sent, and recorded under their id", async () => {
    const fake = await fakeProvider({});
    const chat = await chatOf(fake, 9, 1);
    const id = await send(chat, "last-messages", { strategyOptions: { messages: 2 } });
    await bench.ended(chat, id);
    expect(await generation(chat, id)).toMatchObject({ status: "completed" });
    const numbers = contentsOf(fake.requests[0])?.flatMap((text) => /^Message (\d+)/.exec(text ?? "")?.[1] ?? []);
    expect(numbers).toEqual(["8", "9"]);
    const audit = await auditOf(chat);
    expect(audit.strategy).toBe("last-messages");
    expect(audit.diagnostics).toEqual([]);
  });
});
