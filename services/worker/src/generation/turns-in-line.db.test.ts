import { findGeneration, requestCancel, withTenant } from "@shiftwork/db";
import { insertTestGeneration, type TestChat } from "@shiftwork/db/testing";
import { startFakeOpenAi, type FakeOpenAi } from "@shiftwork/providers/testing";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, it } from "vitest";
import { openBench, type Bench } from "../testing/worker-under-test.ts";

let bench: Bench;
let fake: FakeOpenAi;
let chat: TestChat;

beforeAll(async () => {
  bench = await openBench(inject("databaseUrl"), inject("redisUrl"));
  // A busy machine must not make it look dead: its turns would run twice, and requests are counted here.
  await bench.startWorker({ WORKER_DEAD_AFTER_MS: 60_000 });
});
beforeEach(async () => {
  fake = await startFakeOpenAi({ handler: (request) => ({ kind: "words", words: [replyTo(request)], gated: true }) });
  chat = await bench.chatWith(fake.baseUrl);
});
afterEach(() => fake.close());
afterAll(() => bench.close());

type Request = FakeOpenAi["requests"][number];
/** What was said, as the model is sent it. */
const textsOf = ({ body }: Request) =>
  body.messages.filter(({ role }) => role !== "system").map(({ content }) => content);
const replyTo = (request: Request) => `to ${textsOf(request).at(-1)}`;
const generation = (id: string) =>
  withTenant(bench.api.db, chat.tenantId, (tx) => findGeneration(tx, chat.tenantId, id));

/** A turn behind another one. */
const behind = (blockedBy: string, content: string, deadlineMs = 60_000) =>
  insertTestGeneration(bench.api.db, chat, deadlineMs, {
    blockedBy,
    inputMessageId: null,
    pendingMessage: { content, name: null },
  });

it("runs turns that came while another streamed in their order, each with exactly what was said before it", async () => {
  const first = await insertTestGeneration(bench.api.db, chat);
  const running = await fake.received(0);
  const second = await behind(first, "two");
  const third = await behind(second, "three");
  const fourth = await behind(third, "four");
  running.finish();
  for (let at = 1; at < 4; at += 1) (await fake.received(at)).finish();
  await bench.ended(chat, fourth);
  const said = ["Hello?", "to Hello?", "two", "to two", "three", "to three", "four"];
  expect(fake.requests.map(textsOf)).toEqual([1, 3, 5, 7].map((count) => said.slice(0, count)));
  expect(await generation(fourth)).toMatchObject({ status: "completed", attempts: 1 });
});

it("starts the next turn when the running one is cancelled, and ends a waiting one at its deadline meanwhile", async () => {
  const first = await insertTestGeneration(bench.api.db, chat);
  await fake.received(0);
  const late = await behind(first, "too late", 1);
  const last = await behind(late, "still here");
  await bench.ended(chat, late);
  expect(await generation(late)).toMatchObject({ status: "failed", errorCode: "DEADLINE_EXCEEDED" });
  expect(await generation(last)).toMatchObject({ status: "queued", blockedBy: first });
  await withTenant(bench.api.db, chat.tenantId, (tx) => requestCancel(tx, chat.tenantId, first, "superseded"));
  const next = await fake.received(1);
  expect(textsOf(next)).toEqual(["Hello?", "still here"]);
  next.finish();
  await bench.ended(chat, last);
  expect(await generation(first)).toMatchObject({ status: "cancelled" });
});
