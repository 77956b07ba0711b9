import { findGeneration, newId, openDatabase, requestCancel, withTenant, type Database } from "@shiftwork/db";
import {
  insertTestChat,
  insertTestGeneration,
  openTestDatabase,
  type TestChat,
  type TestDatabase,
} from "@shiftwork/db/testing";
import { openPostgresEventLog, openRedisEventLog, type EventLog } from "@shiftwork/platform";
import { startFakeOpenAi, type FakeOpenAi } from "@shiftwork/providers/testing";
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { startWorkerProcess, type WorkerProcess } from "./worker-process.ts";

let test: TestDatabase;
let admin: Database;
let api: Database;
let events: EventLog;
let env: Record<string, string>;
const workers: WorkerProcess[] = [];
const fakes: FakeOpenAi[] = [];

beforeAll(async () => {
  test = await openTestDatabase(inject("databaseUrl"));
  admin = openDatabase({ url: test.url, role: "shiftwork_admin", maxConnections: 3, applicationName: "test" });
  api = openDatabase({ url: test.url, role: "shiftwork_api", maxConnections: 5, applicationName: "test" });
  const redisUrl = inject("redisUrl");
  const name = `e2e-${newId()}`;
  // As the workers: they stream through a Redis when there is one.
  events =
    redisUrl === null
      ? await openPostgresEventLog(api)
      : await openRedisEventLog(api, { url: redisUrl, name, onError: () => undefined });
  env = {
    DATABASE_URL: test.url,
    ...(redisUrl === null ? {} : { REDIS_URL: redisUrl }),
    QUEUE_NAME: name,
    MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
    HEARTBEAT_MS: "50",
    WORKER_DEAD_AFTER_MS: "1000",
    LEASE_MS: "600",
    DISPATCH_INTERVAL_MS: "50",
    RECONCILE_INTERVAL_MS: "50",
    FRAME_MS: "5",
    DRAIN_TIMEOUT_MS: "200",
  };
});

afterEach(async () => {
  for (const worker of workers.splice(0)) {
    worker.child.kill("SIGCONT");
    await worker.end("SIGKILL");
  }
  await Promise.all(fakes.splice(0).map((fake) => fake.close()));
});

afterAll(async () => {
  await events.close();
  await admin.close();
  await api.close();
  await test.drop();
});

async function startWorker(): Promise<WorkerProcess> {
  const started = await startWorkerProcess(env);
  workers.push(started);
  return started;
}

async function fakeProvider(options: Parameters<typeof startFakeOpenAi>[0]): Promise<FakeOpenAi> {
  const fake = await startFakeOpenAi(options);
  fakes.push(fake);
  return fake;
}

async function chatAt(baseUrl: string): Promise<TestChat> {
  const chat = await insertTestChat(admin.db, api.db);
  await withTenant(admin.db, chat.tenantId, (tx) =>
    tx
      .updateTable("providers")
      .set({ kind: "openai-compatible", base_url: baseUrl, allow_private_network: true })
      .where("tenant_id", "=", chat.tenantId)
      .execute(),
  );
  return chat;
}

/** Resolves with the events once one of this type is there. */
function eventsUntil(chat: TestChat, id: string, type: string) {
  return new Promise<readonly { type: string }[]>((resolve, reject) => {
    const look = (): void => {
      events.read(chat.tenantId, id, 0, 10_000).then((seen) => {
        if (!seen.some((event) => event.type === type)) return;
        stop();
        resolve(seen);
      }, reject);
    };
    const stop = events.subscribe(id, look);
    look();
  });
}

const replies = (chat: TestChat) =>
  withTenant(api.db, chat.tenantId, (tx) =>
    tx
      .selectFrom("messages")
      .selectAll()
      .where("tenant_id", "=", chat.tenantId)
      .where("role", "=", "assistant")
      .execute(),
  );
const generation = (chat: TestChat, id: string) =>
  withTenant(api.db, chat.tenantId, (tx) => findGeneration(tx, chat.tenantId, id));

const HALF_THEN_WHOLE = [
  { kind: "words", words: ["Half"], gated: true },
  { kind: "words", words: ["The ", "whole ", "reply."] },
] as const;

describe("a worker process", () => {
  it("killed mid-stream costs nothing but time: the generation ends once, with one reply", async () => {
    const fake = await fakeProvider({ script: HALF_THEN_WHOLE });
    const chat = await chatAt(fake.baseUrl);
    const first = await startWorker();
    const id = await insertTestGeneration(api.db, chat);
    (await fake.received(0)).next();
    await eventsUntil(chat, id, "message.delta");
    await first.end("SIGKILL");
    await startWorker();
    const seen = await eventsUntil(chat, id, "generation.completed");
    expect(seen.filter((event) => event.type.startsWith("generation.c"))).toHaveLength(1);
    expect(seen).toContainEqual(
      expect.objectContaining({ type: "generation.retrying", data: expect.objectContaining({ resetOutput: true }) }),
    );
    expect(await replies(chat)).toMatchObject([{ content: "The whole reply.", active: true }]);
    expect(await generation(chat, id)).toMatchObject({ status: "completed", attempts: 2 });
  });

  it("killed after a cancel was accepted leaves the generation cancelled, with the text the readers saw", async () => {
    const fake = await fakeProvider({ script: HALF_THEN_WHOLE });
    const chat = await chatAt(fake.baseUrl);
    const first = await startWorker();
    const id = await insertTestGeneration(api.db, chat);
    (await fake.received(0)).next();
    await eventsUntil(chat, id, "message.delta");
    first.child.kill("SIGSTOP");
    await withTenant(api.db, chat.tenantId, (tx) => requestCancel(tx, chat.tenantId, id, null));
    await first.end("SIGKILL");
    await startWorker();
    await eventsUntil(chat, id, "generation.cancelled");
    expect(await replies(chat)).toMatchObject([{ content: "Half", partial: true, active: true }]);
    expect(fake.requests).toHaveLength(1);
  });

  it("frozen, replaced and woken has its late writes rejected", async () => {
    const fake = await fakeProvider({ script: HALF_THEN_WHOLE });
    const chat = await chatAt(fake.baseUrl);
    const frozen = await startWorker();
    const id = await insertTestGeneration(api.db, chat);
    const call = await fake.received(0);
    call.next();
    await eventsUntil(chat, id, "message.delta");
    frozen.child.kill("SIGSTOP");
    await startWorker();
    await eventsUntil(chat, id, "generation.completed");
    const before = await events.read(chat.tenantId, id, 0, 1_000);
    call.finish();
    frozen.child.kill("SIGCONT");
    await frozen.logged("generation done");
    await frozen.logged("event loop blocked; no new jobs are taken");
    expect(frozen.lines).toContainEqual(expect.objectContaining({ msg: "generation done", outcome: "fenced" }));
    expect(await events.read(chat.tenantId, id, 0, 1_000)).toEqual(before);
    expect(await replies(chat)).toMatchObject([{ content: "The whole reply." }]);
  });

  it("told to stop hands its run back uncounted, and the next one takes it", async () => {
    const fake = await fakeProvider({ script: HALF_THEN_WHOLE });
    const chat = await chatAt(fake.baseUrl);
    const first = await startWorker();
    const id = await insertTestGeneration(api.db, chat);
    await fake.received(0);
    expect(await first.end("SIGTERM")).toBe(0);
    expect(await generation(chat, id)).toMatchObject({ status: "queued", attempts: 0 });
    await startWorker();
    await eventsUntil(chat, id, "generation.completed");
    expect(await generation(chat, id)).toMatchObject({ status: "completed", attempts: 1 });
  });

  it("three of them lost over one generation end it as WORKER_LOST", async () => {
    const fake = await fakeProvider({ script: { kind: "hang-before-first-token" } });
    const chat = await chatAt(fake.baseUrl);
    const id = await insertTestGeneration(api.db, chat);
    for (let n = 0; n < 3; n += 1) {
      const started = await startWorker();
      await fake.received(n);
      await started.end("SIGKILL");
    }
    await startWorker();
    await eventsUntil(chat, id, "generation.failed");
    expect(await generation(chat, id)).toMatchObject({ status: "failed", errorCode: "WORKER_LOST", attempts: 3 });
  });
});
