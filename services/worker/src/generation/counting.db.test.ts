import { readFileSync } from "node:fs";
import { deflateSync, inflateSync } from "node:zlib";
import { encodeId } from "@shiftwork/contracts";
import {
  deleteTokenizer,
  findCalibration,
  findChatAudit,
  findGeneration,
  insertTokenizer,
  newId,
  withTenant,
  type Counting,
} from "@shiftwork/db";
import { insertTestGeneration, insertTestMessage, type TestChat } from "@shiftwork/db/testing";
import { profileFor, type AuditDocument } from "@shiftwork/pipeline";
import { startFakeOpenAi, type FakeOpenAi, type FakeReply } from "@shiftwork/providers/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { openBench, type Bench } from "../testing/worker-under-test.ts";
import type { RunningWorker } from "../worker.ts";

const FILE = readFileSync(new URL("../../../../packages/pipeline/fixtures/tokenizer.json", import.meta.url));
const TEXT = "The tide took three lamps before dawn. ";
const NONE: Counting = { tokenizerId: null, calibration: null };

let bench: Bench;
let worker: RunningWorker;
const fakes: FakeOpenAi[] = [];

beforeAll(async () => {
  bench = await openBench(inject("databaseUrl"), inject("redisUrl"));
});
beforeEach(async () => {
  worker = await bench.startWorker();
});
afterEach(async () => {
  await worker.stop(0);
  await Promise.all(fakes.splice(0).map((fake) => fake.close()));
});
afterAll(() => bench.close());

const words = (usage: object): FakeReply => ({ kind: "chunks", chunks: [said, stopped, { choices: [], usage }] });
const said = { choices: [{ index: 0, delta: { content: "Aye." }, finish_reason: null }] };
const stopped = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };

/** A chat, with a long message to answer, whose provider answers so. */
async function chatWith(...script: readonly FakeReply[]): Promise<TestChat> {
  const fake = await startFakeOpenAi({ script });
  fakes.push(fake);
  const chat = await bench.chatWith(fake.baseUrl);
  await inTenant(chat, (tx) =>
    tx
      .updateTable("messages")
      .set({ content: TEXT.repeat(60) })
      .where("id", "=", chat.inputMessageId)
      .execute(),
  );
  return chat;
}

async function say(chat: TestChat, seq: number, content: string): Promise<string> {
  const message = { id: newId(), seq, role: seq % 2 === 0 ? "assistant" : "user", content } as const;
  await inTenant(chat, (tx) => insertTestMessage(tx, chat, message));
  return message.id;
}

const inTenant = <T>(chat: TestChat, work: Parameters<typeof withTenant<T>>[2]): Promise<T> =>
  withTenant(bench.api.db, chat.tenantId, work);

/** Runs a turn to its end: the generation, and its audit. */
async function turn(chat: TestChat, model: string, counting: Counting = NONE, contextLimit = 8_192) {
  const id = await insertTestGeneration(bench.api.db, chat, 60_000, {
    model,
    request: { counting, budget: { contextLimit, reservedForReply: 200 } },
  });
  await bench.ended(chat, id);
  const row = await inTenant(chat, (tx) => findGeneration(tx, chat.tenantId, id));
  const { finished } = await inTenant(chat, (tx) => findChatAudit(tx, chat.tenantId, chat.chatId));
  const document = JSON.parse(inflateSync(finished?.document ?? new Uint8Array()).toString()) as AuditDocument;
  return { row, document };
}

describe("a turn of a model with the tenant's own tokenizer", () => {
  it("is counted by it exactly, with no margin", async () => {
    const chat = await chatWith(words({ prompt_tokens: 10, completion_tokens: 1 }));
    const id = newId();
    const row = { id, name: "Own", models: ["house-*"], sizeBytes: FILE.length, file: deflateSync(FILE) };
    await inTenant(chat, (tx) => insertTokenizer(tx, chat.tenantId, row));
    const own = await turn(chat, "house-7b", { tokenizerId: id, calibration: null });
    expect(own.document.tokenizer).toEqual({ profile: encodeId("tokenizer", id), approximate: false });
    expect(own.document.budget.margin).toBe(0);
    expect(own.row?.context?.tokenizer).toEqual(own.document.tokenizer);
    expect(own.document.budget.promptTokens).toBeGreaterThan(1_500);
  });

  it("is estimated when the tokenizer was deleted since", async () => {
    const chat = await chatWith(words({ prompt_tokens: 10, completion_tokens: 1 }));
    const id = newId();
    const row = { id, name: "Own", models: ["house-*"], sizeBytes: FILE.length, file: deflateSync(FILE) };
    await inTenant(chat, (tx) => insertTokenizer(tx, chat.tenantId, row));
    await inTenant(chat, (tx) => deleteTokenizer(tx, chat.tenantId, id));
    const { document } = await turn(chat, "house-7b", { tokenizerId: id, calibration: null });
    expect(document.tokenizer).toEqual({ profile: "estimate:generic", approximate: true });
  });
});

describe("what a provider reports", () => {
  const model = "claude-x";
  const { id: profile, version: profileVersion } = profileFor(model);
  const learned = (chat: TestChat) =>
    inTenant(chat, (tx) =>
      tx.selectFrom("token_calibrations").selectAll().where("tenant_id", "=", chat.tenantId).executeTakeFirst(),
    );
  const counting = (chat: TestChat) =>
    inTenant(chat, async (tx): Promise<Counting> => {
      const place = { providerId: chat.providerId, model, profile, profileVersion };
      return { tokenizerId: null, calibration: await findCalibration(tx, chat.tenantId, place) };
    });

  it("is learned, and brings later estimates to it, once", async () => {
    const { document } = await turn(await chatWith(words({ prompt_tokens: 1, completion_tokens: 1 })), model);
    const plain = document.budget.promptTokens ?? 0;
    const reported = Math.round(plain * 1.3);
    const chat = await chatWith(words({ prompt_tokens: reported, completion_tokens: 1 }));
    // The replies that are stored in between would make the prompt longer: each turn answers the same message.
    for (let samples = 1; samples <= 5; samples += 1) {
      await turn(chat, model);
      await expect.poll(() => learned(chat)).toMatchObject({ samples });
    }
    const next = await counting(chat);
    const before = (await learned(chat))?.ratio ?? 0;
    expect(next.calibration).toMatchObject({ version: 1, factor: expect.closeTo(1.3, 1) });
    const corrected = await turn(chat, model, next);
    expect(corrected.document.tokenizer.calibration).toEqual(next.calibration);
    expect((corrected.document.budget.promptTokens ?? 0) / reported).toBeCloseTo(1, 1);
    await expect.poll(() => learned(chat)).toMatchObject({ samples: 6, version: 1, ratio: expect.closeTo(before, 2) });
    expect(await counting(chat)).toEqual(next);
  });

  it("teaches nothing when it came from a cache, of an exact count, or of a run that was broken off", async () => {
    const cached = await chatWith(
      words({ prompt_tokens: 900, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 500 } }),
    );
    await turn(cached, model);
    const exact = await chatWith(words({ prompt_tokens: 900, completion_tokens: 1 }));
    await turn(exact, "gpt-4o");
    const usage = { choices: [], usage: { prompt_tokens: 900, completion_tokens: 1 } };
    const broken = await chatWith({ kind: "chunks", chunks: [said, usage], done: false });
    expect((await turn(broken, model)).row).toMatchObject({ status: "failed", inputTokens: 900 });
    const silent = await chatWith({ kind: "words", words: ["Aye."], usage: null });
    await turn(silent, model);
    // A run is over when it has learned.
    await worker.stop(10_000);
    for (const chat of [cached, exact, broken, silent]) expect(await learned(chat)).toBe(undefined);
  });

  it("teaches nothing of a request that was refused as too long before", async () => {
    const error = { message: "maximum context length is 1500 tokens", code: "context_length_exceeded" };
    const chat = await chatWith(
      { kind: "error", status: 400, body: { error } },
      words({ prompt_tokens: 900, completion_tokens: 1 }),
    );
    for (let seq = 2; seq <= 6; seq += 1) await say(chat, seq, TEXT.repeat(20));
    const last = await say(chat, 7, "And now?");
    const { row, document } = await turn({ ...chat, inputMessageId: last }, model);
    expect(row).toMatchObject({ status: "completed" });
    expect(document.refusedRequests).toHaveLength(1);
    await worker.stop(10_000);
    expect(await learned(chat)).toBe(undefined);
  });
});
