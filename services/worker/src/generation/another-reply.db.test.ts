import { findChat, insertBranch, setActiveBranch, requestCancel, withTenant, type NewGeneration } from "@shiftwork/db";
import { insertTestGeneration, insertTestMessage, type TestChat } from "@shiftwork/db/testing";
import { startFakeOpenAi, type FakeOpenAi } from "@shiftwork/providers/testing";
import { afterAll, afterEach, beforeAll, expect, inject, it } from "vitest";
import { openBench, type Bench } from "../testing/worker-under-test.ts";

let bench: Bench;
const fakes: FakeOpenAi[] = [];

beforeAll(async () => {
  bench = await openBench(inject("databaseUrl"), inject("redisUrl"));
  await bench.startWorker();
});

afterEach(async () => {
  await Promise.all(fakes.splice(0).map((fake) => fake.close()));
});

afterAll(() => bench.close());

async function fakeProvider(...script: Extract<Parameters<typeof startFakeOpenAi>[0], object>["script"][]) {
  const fake = await startFakeOpenAi({ script: script.flatMap((reply) => reply ?? []) });
  fakes.push(fake);
  return fake;
}

const accept = (chat: TestChat, part: Partial<Pick<NewGeneration, "action" | "branch" | "targetMessageId">> = {}) =>
  insertTestGeneration(bench.api.db, chat, 60_000, part);

async function run(chat: TestChat, part: Parameters<typeof accept>[1] = {}) {
  return (await bench.ended(chat, await accept(chat, part))).at(-1);
}

const rows = (chat: TestChat) =>
  withTenant(bench.api.db, chat.tenantId, (tx) =>
    tx
      .selectFrom("messages")
      .select(["id", "branch", "seq", "variant", "content", "active", "failed"])
      .where("tenant_id", "=", chat.tenantId)
      .where("role", "=", "assistant")
      .orderBy("id")
      .execute(),
  );

const activeBranch = async (chat: TestChat) =>
  (await withTenant(bench.api.db, chat.tenantId, (tx) => findChat(tx, chat.tenantId, chat.chatId, null)))?.activeBranch;

const replyOf = async (chat: TestChat) => (await rows(chat))[0]?.id ?? "";

/** The user goes on behind the first reply. */
const goOn = (chat: TestChat) =>
  withTenant(bench.api.db, chat.tenantId, (tx) =>
    insertTestMessage(tx, chat, { id: chat.chatId, seq: 3, role: "user", content: "And the door?" }),
  );

it("a regenerated reply is made of the very request that made the first, and stands beside it", async () => {
  const fake = await fakeProvider({ kind: "words", words: ["One"] }, { kind: "words", words: ["Two"] });
  const chat = await bench.chatWith(fake.baseUrl);
  await run(chat);
  await run(chat, { action: "regenerate", targetMessageId: await replyOf(chat) });
  expect(fake.requests[1]?.rawBody).toBe(fake.requests[0]?.rawBody);
  expect(await rows(chat)).toMatchObject([
    { content: "One", branch: 0, seq: 2, variant: 0, active: false },
    { content: "Two", branch: 0, seq: 2, variant: 1, active: true },
  ]);
});

it("a regenerated reply that others stand behind is made without them, and begins a branch", async () => {
  const fake = await fakeProvider({ kind: "words", words: ["One"] }, { kind: "words", words: ["Two"] });
  const chat = await bench.chatWith(fake.baseUrl);
  await run(chat);
  await goOn(chat);
  await run(chat, { action: "regenerate", targetMessageId: await replyOf(chat) });
  expect(fake.requests[1]?.rawBody).toBe(fake.requests[0]?.rawBody);
  expect(await rows(chat)).toMatchObject([
    { content: "One", branch: 0, active: true },
    { content: "Two", branch: 1, seq: 2, variant: 0, active: true },
  ]);
  expect(await activeBranch(chat)).toBe(1);
});

it("a turn on a branch is made of that branch, and its reply stands there", async () => {
  const fake = await fakeProvider({ kind: "words", words: ["One"] }, { kind: "words", words: ["Two"] });
  const chat = await bench.chatWith(fake.baseUrl);
  await run(chat);
  await goOn(chat);
  await withTenant(bench.api.db, chat.tenantId, async (tx) => {
    const branch = await insertBranch(tx, chat.tenantId, chat.chatId, { parentBranch: 0, forkSeq: 1 });
    await setActiveBranch(tx, chat.tenantId, chat.chatId, branch);
  });
  await run(chat, { branch: 1 });
  expect(fake.requests[1]?.body.messages.at(-1)?.content).toBe("Hello?");
  expect(await rows(chat)).toMatchObject([
    { content: "One", branch: 0, seq: 2, active: true },
    { content: "Two", branch: 1, seq: 2, variant: 0, active: true },
  ]);
});

it.each([
  ["regenerate", true],
  ["swipe", false],
] as const)("a %s stopped in the middle keeps its text once, chosen: %s", async (action, chosen) => {
  const gated = { kind: "words", words: ["Tw", "o"], gated: true } as const;
  const fake = await fakeProvider({ kind: "words", words: ["One"] }, gated);
  const chat = await bench.chatWith(fake.baseUrl);
  await run(chat);
  const id = await accept(chat, { action, targetMessageId: await replyOf(chat) });
  const call = await fake.received(1);
  call.next();
  await bench.eventsUntil(chat, id, (event) => event.type === "message.delta");
  await withTenant(bench.api.db, chat.tenantId, (tx) => requestCancel(tx, chat.tenantId, id, null));
  expect((await bench.ended(chat, id)).at(-1)?.type).toBe("generation.cancelled");
  expect(await rows(chat)).toMatchObject([
    { content: "One", active: !chosen },
    { content: "Tw", branch: 0, seq: 2, variant: 1, active: chosen },
  ]);
});

it("a regenerate that fails in the middle leaves the chat on its branch, with the old reply", async () => {
  const fake = await fakeProvider({ kind: "words", words: ["One"] }, { kind: "no-end-mark", words: ["Tw"] });
  const chat = await bench.chatWith(fake.baseUrl);
  await run(chat);
  await goOn(chat);
  const end = await run(chat, { action: "regenerate", targetMessageId: await replyOf(chat) });
  expect(end?.type).toBe("generation.failed");
  expect(await rows(chat)).toMatchObject([
    { content: "One", active: true },
    { content: "Tw", branch: 0, seq: 2, variant: 1, active: false, failed: true },
  ]);
  expect(await activeBranch(chat)).toBe(0);
});
