import { inflateSync } from "node:zlib";
import { encodeId, type RecallSetting } from "@shiftwork/contracts";
import {
  findChatAudit,
  findDueEmbeddingRequests,
  findVectors,
  insertMemory,
  newId,
  requestEmbeddings,
  withTenant,
  writeTenantSettings,
} from "@shiftwork/db";
import { insertAnotherChat, insertTestGeneration, type TestChat } from "@shiftwork/db/testing";
import type { AuditDocument } from "@shiftwork/pipeline";
import { createLogger } from "@shiftwork/platform";
import { createUseLite, embeddingKey } from "@shiftwork/providers";
import {
  embeddingsReply,
  isUseLiteInstalled,
  startFakeOpenAi,
  textsOf,
  type FakeOpenAi,
  type FakeReply,
  type RecordedRequest,
} from "@shiftwork/providers/testing";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, onTestFinished, vi } from "vitest";
import { indexEmbeddings, type Patience } from "../maintenance/index-embeddings.ts";
import { openBench, type Bench } from "../testing/worker-under-test.ts";

const ALLERGY = "Walnuts make his throat swell shut.";
const SHIP = "A ship left the harbour.";
const QUESTION = "Hello?";
/** What a model would know: the question and the allergy mean the same. */
const MEANINGS: { readonly [text: string]: readonly number[] } = {
  [QUESTION]: [1, 0],
  [ALLERGY]: [0.9, 0.43],
  [SHIP]: [0, 1],
};
const DIMS = 2;

let bench: Bench;
const fakes: FakeOpenAi[] = [];
const useLite = createUseLite();

beforeAll(async () => {
  bench = await openBench(inject("databaseUrl"), inject("redisUrl"));
  // The loop has its own tests below, called by hand.
  await bench.startWorker({ EMBEDDING_INTERVAL_MS: 3_600_000 });
});
afterEach(async () => {
  await Promise.all(fakes.splice(0).map((fake) => fake.close()));
});
afterAll(async () => {
  await useLite.close();
  await bench.close();
});

const isForVectors = ({ path }: Pick<RecordedRequest, "path">): boolean => path.endsWith("/embeddings");
const vectorsOf = (request: RecordedRequest): FakeReply =>
  embeddingsReply(request, { vectorOf: (text) => MEANINGS[text] ?? [0, 1] });

/** A provider that replies, and answers what it is asked for vectors. */
async function fakeProvider(vectors: (request: RecordedRequest) => FakeReply = vectorsOf): Promise<FakeOpenAi> {
  const words: FakeReply = { kind: "words", words: ["Aye."] };
  const fake = await startFakeOpenAi({ handler: (request) => (isForVectors(request) ? vectors(request) : words) });
  fakes.push(fake);
  return fake;
}
const asked = (fake: FakeOpenAi): readonly string[] => fake.requests.filter(isForVectors).flatMap(textsOf);

/** A chat with two memories whose tenant recalls by the fake's vectors. */
async function chatOf(fake: FakeOpenAi, part: { questionWaitMs?: number } = {}): Promise<TestChat> {
  const chat = await bench.chatWith(fake.baseUrl);
  await choose(chat, {
    provider: "openai-compatible",
    providerId: encodeId("provider", chat.providerId),
    model: "vectors-1",
    dims: DIMS,
    ...part,
  });
  await withTenant(bench.api.db, chat.tenantId, async (tx) => {
    for (const content of [ALLERGY, SHIP])
      await insertMemory(tx, chat.tenantId, {
        id: newId(),
        chatId: chat.chatId,
        characterId: null,
        content,
        pinned: false,
        sourceMessageId: null,
      });
  });
  return chat;
}

const choose = (chat: TestChat, recall: RecallSetting) =>
  withTenant(bench.admin.db, chat.tenantId, (tx) => writeTenantSettings(tx, chat.tenantId, { recall }));

/** Runs a turn to its end; what its audit says of memories. */
async function turn(chat: TestChat) {
  await bench.ended(chat, await insertTestGeneration(bench.api.db, chat));
  const { finished } = await withTenant(bench.api.db, chat.tenantId, (tx) =>
    findChatAudit(tx, chat.tenantId, chat.chatId),
  );
  const document = JSON.parse(inflateSync(finished?.document ?? "").toString("utf8")) as AuditDocument;
  expect(finished?.status).toBe("completed");
  return {
    memories: Object.fromEntries(
      document.blocks.filter(({ source }) => source === "memory").map((row) => [row.label, row]),
    ),
    missing: document.diagnostics.filter(({ code }) => code === "vectors_missing").map(({ detail }) => detail),
  };
}

const never = (): AbortSignal => new AbortController().signal;
const index = (patience: Partial<Patience> = {}, leads = true) =>
  indexEmbeddings(
    {
      db: bench.worker.db,
      useLite,
      masterKey: Buffer.alloc(32, 7),
      timeouts: { connectTimeoutMs: 600_000, idleTimeoutMs: 600_000 },
      logger: createLogger({ level: "silent", name: "test" }),
      signal: never(),
      leads: () => Promise.resolve(leads),
    },
    { call: never, tenant: never, ...patience },
  );
/** Chats of one tenant that want vectors, in that order; none but the first has memories. */
async function chatsOf(fake: FakeOpenAi, count: number): Promise<readonly TestChat[]> {
  const chats = [await chatOf(fake)];
  while (chats.length < count)
    chats.push({ ...chats[0], ...(await insertAnotherChat(bench.api.db, chats[0] as TestChat)) });
  for (const { tenantId, chatId } of chats)
    await withTenant(bench.worker.db, tenantId, (tx) => requestEmbeddings(tx, tenantId, { chatId, withLore: false }));
  return chats;
}
const requestsOf = (chat: TestChat) =>
  withTenant(bench.worker.db, chat.tenantId, (tx) =>
    tx.selectFrom("embedding_requests").selectAll().where("tenant_id", "=", chat.tenantId).execute(),
  );

describe("recall by stored vectors", () => {
  it("waits for none: the turn goes by words, says so, and has its vectors made behind its back", async () => {
    const fake = await fakeProvider();
    const chat = await chatOf(fake);
    const first = await turn(chat);
    expect(asked(fake)).toEqual([]);
    expect(first.memories[ALLERGY]).toMatchObject({ included: false, reason: "memory_below_threshold" });
    expect(first.missing).toMatchObject([{ question: 1, candidates: 2 }]);
    await index();
    expect(new Set(asked(fake))).toEqual(new Set([ALLERGY, SHIP, QUESTION, "Aye."]));
    expect(await requestsOf(chat)).toEqual([]);
    const second = await turn(chat);
    expect(second.missing).toEqual([]);
    expect(second.memories[ALLERGY]).toMatchObject({
      included: true,
      reason: "memory_relevant",
      reasonDetail: { score: 1, rank: 1, words: null, meaning: { rank: 1 } },
    });
    expect(second.memories[SHIP]).toMatchObject({ included: false, reason: "memory_below_threshold" });
    await index();
    expect(asked(fake).length).toBe(4);
  });

  it("waits for its own question as long as the tenant allows, and stores its vector", async () => {
    const fake = await fakeProvider();
    const chat = await chatOf(fake, { questionWaitMs: 2_000 });
    const first = await turn(chat);
    expect(asked(fake)).toEqual([QUESTION]);
    expect(first.missing).toMatchObject([{ question: 0, candidates: 2 }]);
    const embedder = { id: `${encodeId("provider", chat.providerId)}/vectors-1`, version: fake.baseUrl, dims: DIMS };
    const stored = await withTenant(bench.worker.db, chat.tenantId, (tx) =>
      findVectors(tx, chat.tenantId, [embeddingKey(embedder, QUESTION)]),
    );
    expect(stored.length).toBe(1);
  });

  it("uses none that another server made: one that the provider was moved from", async () => {
    const [before, after] = [await fakeProvider(), await fakeProvider()];
    const chat = await chatOf(before);
    await turn(chat);
    await index();
    expect((await turn(chat)).missing).toEqual([]);
    await withTenant(bench.admin.db, chat.tenantId, (tx) =>
      tx.updateTable("providers").set({ base_url: after.baseUrl }).where("id", "=", chat.providerId).execute(),
    );
    expect((await turn(chat)).missing).toMatchObject([{ question: 1, candidates: 2 }]);
    await index();
    expect(asked(after)).toContain(ALLERGY);
  });

  it("ends well when the provider never answers, or fails", async () => {
    for (const reply of [{ kind: "hang-before-headers" }, { kind: "error", status: 500 }] as const) {
      const fake = await fakeProvider(() => reply);
      const chat = await chatOf(fake, { questionWaitMs: 1 });
      expect((await turn(chat)).missing).toMatchObject([{ question: 1, candidates: 2 }]);
    }
  });

  it("ends well when what it computed cannot be kept, and says so in the log", async () => {
    const chat = await chatOf(await fakeProvider());
    const asOwner = (statement: string) =>
      bench.admin.client.begin(async (tx) => {
        await tx`set local role none`;
        await tx.unsafe(statement);
      });
    await asOwner("alter table embedding_requests add constraint refused check (false) not valid");
    onTestFinished(() => asOwner("alter table embedding_requests drop constraint refused"));
    expect((await turn(chat)).missing).toMatchObject([{ question: 1, candidates: 2 }]);
    expect(await requestsOf(chat)).toEqual([]);
    expect(bench.logged.map(({ msg }) => msg)).toContain("vectors could not be kept or asked for");
  });

  it("needs nothing for the built-in vectors", async () => {
    const fake = await fakeProvider();
    const chat = await chatOf(fake);
    await choose(chat, { provider: "hash-ngram-1024" });
    const { missing, memories } = await turn(chat);
    expect(missing).toEqual([]);
    expect(memories[ALLERGY]).toBeDefined();
    expect(await requestsOf(chat)).toEqual([]);
  });

  it("goes by the built-in vectors when the chosen provider was removed", async () => {
    const chat = await chatOf(await fakeProvider());
    const gone = encodeId("provider", newId());
    await choose(chat, { provider: "openai-compatible", providerId: gone, model: "vectors-1", dims: DIMS });
    expect((await turn(chat)).missing).toEqual([]);
  });

  it.skipIf(!isUseLiteInstalled())("computes the question in this process with use-lite", async () => {
    const chat = await chatOf(await fakeProvider());
    await choose(chat, { provider: "use-lite", questionWaitMs: 2_000 });
    expect((await turn(chat)).missing).toMatchObject([{ provider: "use-lite", candidates: 2 }]);
    await index();
    // The model may take longer to load than a turn waits for its question.
    const memories = await vi.waitFor(
      async () => {
        const { missing, memories: found } = await turn(chat);
        expect(missing).toEqual([]);
        return found;
      },
      { timeout: 25_000 },
    );
    expect(memories[ALLERGY]?.reasonDetail).toHaveProperty("meaning");
  });
});

describe("the loop that makes vectors", () => {
  it("comes back later to a provider that fails, as long as it asks for, and serves other tenants meanwhile", async () => {
    const limited = await fakeProvider(() => ({ kind: "error", status: 429, headers: { "retry-after": "3000" } }));
    const [failing, well] = [await chatOf(limited), await chatOf(await fakeProvider())];
    await Promise.all([turn(failing), turn(well)]);
    await index();
    expect(await requestsOf(well)).toEqual([]);
    const [request] = await requestsOf(failing);
    expect(request).toMatchObject({ failures: 1 });
    expect(request?.next_try_at.getTime()).toBeGreaterThan(Date.now() + 2_000_000);
    await index();
    expect(asked(limited).length).toBe(4);
  });

  it("asks a provider that fails for none of the tenant's chats, and counts its failures together", async () => {
    const fake = await fakeProvider(() => ({ kind: "error", status: 500 }));
    const [chat, another, byOther] = await chatsOf(fake, 3);
    if (!chat || !another || !byOther) throw new Error("there are three");
    await withTenant(bench.api.db, chat.tenantId, (tx) =>
      tx
        .updateTable("chats")
        .set({ settings: { recall: { provider: "use-lite" } } })
        .where("id", "=", byOther.chatId)
        .execute(),
    );
    await index();
    const rows = new Map((await requestsOf(chat)).map((row) => [row.chat_id, row]));
    const [failed, same, other] = [chat, another, byOther].map(({ chatId }) => rows.get(chatId));
    expect([failed, same, other].map((row) => row?.failures)).toEqual([1, 1, 0]);
    expect(same?.next_try_at).toEqual(failed?.next_try_at);
    expect(fake.requests.filter(isForVectors)).toHaveLength(1);
  });

  it("asks for the other chats as ever when a provider refuses the texts of one", async () => {
    const fake = await fakeProvider(() => ({ kind: "error", status: 400 }));
    const [chat, another] = await chatsOf(fake, 2);
    if (!chat || !another) throw new Error("there are two");
    await index();
    const failures = new Map((await requestsOf(chat)).map((row) => [row.chat_id, row.failures]));
    expect([failures.get(chat.chatId), failures.get(another.chatId)]).toEqual([1, 0]);
  });

  it("comes back later to a provider that is still at it when its call has had its time", async () => {
    const chat = await chatOf(await fakeProvider(() => ({ kind: "hang-before-headers" })));
    await turn(chat);
    await index({ call: () => AbortSignal.timeout(50) });
    expect(await requestsOf(chat)).toMatchObject([{ failures: 1 }]);
  });

  it.each([
    ["its tenant has had its time", () => index({ tenant: () => AbortSignal.abort() })],
    ["another process leads", () => index({}, false)],
  ])("leaves what is left of a tenant's chats to the next pass once %s", async (_when, cut) => {
    const [chat, another] = await chatsOf(await fakeProvider(), 2);
    if (!chat || !another) throw new Error("there are two");
    expect(await cut()).toBe(true);
    expect(await requestsOf(chat)).toMatchObject([{ chat_id: another.chatId, failures: 0 }]);
    await index();
    expect(await requestsOf(chat)).toEqual([]);
  });

  it("leaves a chat alone while something runs in it: the reply wants a vector too", async () => {
    const chat = await chatOf(await fakeProvider());
    await turn(chat);
    await withTenant(bench.admin.db, chat.tenantId, (tx) =>
      tx.updateTable("tenants").set({ paused_at: new Date() }).where("id", "=", chat.tenantId).execute(),
    );
    await insertTestGeneration(bench.api.db, chat);
    const due = await findDueEmbeddingRequests(bench.worker.db, {
      limit: 100,
      limitPerTenant: 5,
      busyAtMostMs: 600_000,
    });
    expect(due.map(({ chatId }) => chatId)).not.toContain(chat.chatId);
    const late = await findDueEmbeddingRequests(bench.worker.db, { limit: 100, limitPerTenant: 5, busyAtMostMs: 0 });
    expect(late.map(({ chatId }) => chatId)).toContain(chat.chatId);
  });

  it("gives up what nobody needs any more: another choice, or no chat", async () => {
    const fake = await fakeProvider();
    const [changed, deleted] = [await chatOf(fake), await chatOf(fake)];
    await Promise.all([turn(changed), turn(deleted)]);
    await choose(changed, { provider: "hash-ngram-1024" });
    await withTenant(bench.api.db, deleted.tenantId, (tx) =>
      tx.deleteFrom("chats").where("tenant_id", "=", deleted.tenantId).where("id", "=", deleted.chatId).execute(),
    );
    await index();
    expect(await requestsOf(changed)).toEqual([]);
    expect(await requestsOf(deleted)).toEqual([]);
    expect(asked(fake)).toEqual([]);
  });

  it("runs by itself in a worker that leads", async () => {
    const fake = await fakeProvider();
    const other = await openBench(inject("databaseUrl"), inject("redisUrl"));
    try {
      const worker = await other.startWorker({ EMBEDDING_INTERVAL_MS: 20 });
      const own = await other.chatWith(fake.baseUrl);
      const recall = { provider: "openai-compatible", model: "vectors-1", dims: DIMS } as const;
      await withTenant(other.admin.db, own.tenantId, (tx) =>
        writeTenantSettings(tx, own.tenantId, {
          recall: { ...recall, providerId: encodeId("provider", own.providerId) },
        }),
      );
      await withTenant(other.api.db, own.tenantId, (tx) =>
        insertMemory(tx, own.tenantId, {
          id: newId(),
          chatId: own.chatId,
          characterId: null,
          content: SHIP,
          pinned: false,
          sourceMessageId: null,
        }),
      );
      await insertTestGeneration(other.api.db, own);
      await fake.received(1);
      await worker.stop(0);
      expect(asked(fake)).toContain(SHIP);
    } finally {
      await other.close();
    }
  });
});
