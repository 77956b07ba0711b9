import { randomUUID } from "node:crypto";
import type { GenerationEvent, NewEvent } from "@shiftwork/contracts";
import { appendEvents, openDatabase, withTenant, type Database } from "@shiftwork/db";
import {
  insertTestChat,
  insertTestGeneration,
  openTestDatabase,
  type TestChat,
  type TestDatabase,
} from "@shiftwork/db/testing";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, onTestFinished, vi } from "vitest";
import { tcpProxy } from "../testing/tcp-proxy.ts";
import type { EventLog } from "./event-log.ts";
import { openFrameWriter, type FrameWriter } from "./frame-writer.ts";
import { frameKeys } from "./redis-frames.ts";
import { openRedisEventLog } from "./redis-event-log.ts";

const redisUrl = inject("redisUrl");

const delta = (text: string): NewEvent => ({ type: "message.delta", data: { delta: text, index: 0 } });
const told = (events: readonly GenerationEvent[]) =>
  events.map((event) => `${event.seq} ${event.type === "message.delta" ? event.data.delta : event.type}`);

describe.skipIf(redisUrl === null)("frames in Redis (needs one)", () => {
  let test: TestDatabase;
  let admin: Database;
  let api: Database;
  let chat: TestChat;
  let generationId: string;

  beforeAll(async () => {
    test = await openTestDatabase(inject("databaseUrl"));
    const openAs = (role: "shiftwork_admin" | "shiftwork_api") =>
      openDatabase({ url: test.url, role, maxConnections: 4, applicationName: `test-${role}` });
    [admin, api] = [openAs("shiftwork_admin"), openAs("shiftwork_api")];
  });

  beforeEach(async () => {
    chat = await insertTestChat(admin.db, api.db);
    generationId = await insertTestGeneration(api.db, chat);
  });

  afterAll(async () => {
    for (const database of [admin, api]) await database.close();
    await test.drop();
  });

  /** A log and a writer on one server, connected. */
  async function open({ url = redisUrl ?? "", database = api } = {}) {
    const errors: Error[] = [];
    const server = { url, name: `test-${randomUUID()}`, onError: (error: Error) => void errors.push(error) };
    const log = await openRedisEventLog(database, server);
    const frames = openFrameWriter({ ...server, retentionMs: 600_000 });
    onTestFinished(async () => {
      frames.close();
      await log.close();
    });
    return { log, frames, server, errors, keys: frameKeys(server.name) };
  }

  const append = (frames: FrameWriter, afterSeq: number, texts: readonly string[], fence = 1) =>
    frames.append({ tenantId: chat.tenantId, generationId, fence, afterSeq, events: texts.map(delta) });
  const appendWhenConnected = (frames: FrameWriter, afterSeq: number, texts: readonly string[], fence = 1) =>
    vi.waitFor(() => append(frames, afterSeq, texts, fence), { timeout: 10_000 });
  const store = (event: NewEvent, afterSeq: number) =>
    withTenant(api.db, chat.tenantId, (tx) =>
      appendEvents(tx, { tenantId: chat.tenantId, generationId, events: [event], afterSeq }),
    );
  const read = (log: EventLog, after = 0) => log.read(chat.tenantId, generationId, after, 100);
  const seal = (frames: FrameWriter, fence: number) => frames.seal({ tenantId: chat.tenantId, generationId, fence });

  async function inspector(): Promise<Redis> {
    const client = new Redis(redisUrl ?? "");
    onTestFinished(() => client.disconnect());
    return client;
  }

  it("stand once when a batch whose answer was lost is written again", async () => {
    const { log, frames } = await open();
    await appendWhenConnected(frames, 1, ["a", "b"]);
    expect(await append(frames, 1, ["a", "b", "c"])).toBe(true);
    expect(told(await read(log))).toEqual(["1 generation.queued", "2 a", "3 b", "4 c"]);
  });

  it("that were stored as well, because Redis seemed to be away, come once", async () => {
    const { log, frames } = await open();
    await appendWhenConnected(frames, 1, ["a"]);
    await store(delta("a"), 1);
    await append(frames, 2, ["b"]);
    expect(told(await read(log))).toEqual(["1 generation.queued", "2 a", "3 b"]);
  });

  it("of a sealed attempt and of earlier ones are refused, those of the next are taken", async () => {
    const { log, frames } = await open();
    await appendWhenConnected(frames, 1, ["seen"]);
    expect(told((await seal(frames, 2)).events)).toEqual(["2 seen"]);
    expect([await append(frames, 2, ["late"], 1), await append(frames, 2, ["late"], 2)]).toEqual([false, false]);
    expect(await append(frames, 2, ["next"], 3)).toBe(true);
    await seal(frames, 1);
    expect(await append(frames, 3, ["late"], 2)).toBe(false);
    expect(told(await read(log))).toEqual(["1 generation.queued", "2 seen", "3 next"]);
  });

  describe("of a worker that woke after Redis had lost its seal", () => {
    it("give way to its successor's, whatever was stored stands, and no more are taken", async () => {
      const { log, frames } = await open();
      await appendWhenConnected(frames, 1, ["late", "late", "late", "late"], 1);
      await store({ type: "usage.updated", data: { inputTokens: 1, outputTokens: 1 } }, 1);
      expect(await append(frames, 2, ["next"], 2)).toBe(true);
      expect(await append(frames, 5, ["late"], 1)).toBe(false);
      expect(await append(frames, 2, ["next", "b"], 2)).toBe(true);
      expect(told(await read(log))).toEqual(["1 generation.queued", "2 usage.updated", "3 next", "4 b"]);
    });

    it("are not taken for the last ones of the attempt that is sealed", async () => {
      const { frames } = await open();
      await vi.waitFor(async () => {
        await appendWhenConnected(frames, 1, ["late"], 1);
        expect(await seal(frames, 0)).toMatchObject({ isComplete: true });
      });
      expect(await seal(frames, 2)).toMatchObject({ isComplete: false });
    });
  });

  it("are complete as long as the server that took the last one is there, and there is one", async () => {
    const { frames, keys } = await open();
    await appendWhenConnected(frames, 1, ["a"]);
    await vi.waitFor(async () => {
      await append(frames, 2, ["b"]);
      expect(await seal(frames, 0)).toMatchObject({ isComplete: true });
    });
    const redis = await inspector();
    const stream = keys.stream(chat.tenantId, generationId);
    await redis.xadd(stream, "9-0", "event", JSON.stringify(delta("c")), "on", "before it was restarted");
    expect(await seal(frames, 0)).toMatchObject({ isComplete: false });
    await redis.del(stream);
    expect(await seal(frames, 0)).toEqual({ events: [], isComplete: false });
  });

  it("of a deleted chat are gone, and no attempt brings any back", async () => {
    const { log, frames, keys } = await open();
    await appendWhenConnected(frames, 1, ["secret"]);
    await log.forget(chat.tenantId, [generationId]);
    expect(await append(frames, 2, ["secret"], 99)).toBe(false);
    expect(told(await read(log))).toEqual(["1 generation.queued"]);
    const redis = await inspector();
    expect(await redis.exists(keys.stream(chat.tenantId, generationId))).toBe(0);
  });

  it("expire with their retention after the last one, and so does every seal", async () => {
    const { frames, keys } = await open();
    await appendWhenConnected(frames, 1, ["a"]);
    await seal(frames, 1);
    const redis = await inspector();
    const leftMs = await redis.pttl(keys.stream(chat.tenantId, generationId));
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(600_000);
    expect(await redis.pttl(keys.seal(chat.tenantId, generationId))).toBeGreaterThan(600_000);
  });

  it("that were lost leave a hole that a reader can see, before what came later", async () => {
    const { log, frames, keys } = await open();
    await appendWhenConnected(frames, 1, ["a", "b"]);
    const redis = await inspector();
    await redis.del(keys.stream(chat.tenantId, generationId));
    await append(frames, 3, ["c"]);
    await store({ type: "usage.updated", data: { inputTokens: 1, outputTokens: 1 } }, 4);
    expect(told(await read(log, 1))).toEqual(["4 c", "5 usage.updated"]);
  });

  it("are not told before what was stored ahead of them, though its signal has not come", async () => {
    // A LISTEN that hears nothing: the log believes that nothing was stored since it looked.
    const deaf = { ...api, client: { listen: async () => ({ unlisten: async () => {} }) } } as unknown as Database;
    const { log, frames } = await open({ database: deaf });
    const leave = log.subscribe(generationId, () => undefined);
    onTestFinished(leave);
    await appendWhenConnected(frames, 1, ["a"]);
    await read(log);
    await store({ type: "usage.updated", data: { inputTokens: 1, outputTokens: 1 } }, 2);
    expect(await log.read(chat.tenantId, generationId, 2, 100, { signalled: true })).toEqual([]);
    await append(frames, 3, ["b"]);
    const events = await log.read(chat.tenantId, generationId, 2, 100, { signalled: true });
    expect(told(events)).toEqual(["3 usage.updated", "4 b"]);
  });

  it("are read without the database as long as that has signalled nothing", async () => {
    const transactions = vi.fn<() => unknown>(() => api.db.transaction());
    const watched = { ...api, db: { transaction: transactions } } as unknown as Database;
    const { log, frames } = await open({ database: watched });
    const signal = () =>
      new Promise<void>((resolve) => {
        const leave = log.subscribe(generationId, () => {
          leave();
          resolve();
        });
      });
    onTestFinished(log.subscribe(generationId, () => undefined));
    await appendWhenConnected(frames, 1, ["a"]);
    await read(log);
    const before = transactions.mock.calls.length;
    await append(frames, 2, ["b"]);
    const readOn = () => log.read(chat.tenantId, generationId, 2, 100, { signalled: true });
    expect(told(await readOn())).toEqual(["3 b"]);
    expect(transactions).toHaveBeenCalledTimes(before);
    const stored = signal();
    await store({ type: "usage.updated", data: { inputTokens: 1, outputTokens: 1 } }, 3);
    await stored;
    expect(told(await readOn())).toEqual(["3 b", "4 usage.updated"]);
  });

  it("wake nobody who waits for stored events alone", async () => {
    const { log, frames } = await open();
    await appendWhenConnected(frames, 1, ["a"]);
    let woken = 0;
    onTestFinished(log.subscribe(generationId, () => (woken += 1), { storedOnly: true }));
    const signalled = new Promise<void>((resolve) => void log.subscribe(generationId, resolve));
    await append(frames, 2, ["b"]);
    await signalled;
    expect(woken).toBe(0);
  });

  it("wake any number of readers through one connection", async () => {
    const { log, frames, server } = await open();
    await appendWhenConnected(frames, 1, ["a"]);
    const redis = await inspector();
    const connections = async () =>
      String(await redis.client("LIST"))
        .split("\n")
        .filter((line) => line.includes(`name=${server.name}:events`)).length;
    const before = await connections();
    const woken = Array.from(
      { length: 50 },
      () => new Promise<void>((resolve) => void log.subscribe(generationId, resolve)),
    );
    await append(frames, 2, ["b"]);
    await Promise.all(woken);
    expect(await connections()).toBe(before);
    // Two of the log, one of the writer.
    expect(before).toBe(3);
  });

  it("that Redis refuses are an error that is told once, until it takes them again", async () => {
    const { frames, errors, keys } = await open();
    await appendWhenConnected(frames, 1, ["a"]);
    const redis = await inspector();
    const stream = keys.stream(chat.tenantId, generationId);
    errors.length = 0;
    for (let times = 0; times < 2; times += 1) {
      await redis.set(stream, "not a stream");
      await expect(append(frames, 2, ["b"])).rejects.toMatchObject({ name: "FramesUnavailableError" });
      await expect(append(frames, 2, ["b"])).rejects.toMatchObject({ name: "FramesUnavailableError" });
      await redis.del(stream);
      expect(await append(frames, 2, ["b"])).toBe(true);
      expect(errors.map(({ message }) => message.slice(0, 9))).toEqual(Array(times + 1).fill("WRONGTYPE"));
    }
  });

  describe("while Redis is away", () => {
    it("are refused by a typed error that can be tried again, and what is stored is still read", async () => {
      const server = await tcpProxy(redisUrl ?? "");
      const { log, frames, errors } = await open({ url: server.url });
      await expect(append(frames, 1, ["a"])).rejects.toMatchObject({ name: "FramesUnavailableError", retryable: true });
      await expect(seal(frames, 1)).rejects.toMatchObject({ name: "FramesUnavailableError" });
      await expect(log.forget(chat.tenantId, [generationId])).rejects.toMatchObject({ name: "FramesUnavailableError" });
      await store(delta("a"), 1);
      expect(told(await read(log))).toEqual(["1 generation.queued", "2 a"]);
      expect(errors.length).toBeGreaterThan(0);
    });

    it("are missing, and found again by readers that are woken when it is back", async () => {
      const server = await tcpProxy(redisUrl ?? "");
      await server.open();
      onTestFinished(() => server.cut());
      const { log, frames } = await open({ url: server.url });
      await appendWhenConnected(frames, 1, ["a"]);
      await vi.waitFor(async () => expect(told(await read(log))).toEqual(["1 generation.queued", "2 a"]));
      await server.cut();
      await vi.waitFor(async () => expect(told(await read(log))).toEqual(["1 generation.queued"]));
      const woken = new Promise<void>((resolve) => void log.subscribe(generationId, resolve));
      await server.open();
      await woken;
      await appendWhenConnected(frames, 2, ["b"]);
      await vi.waitFor(async () => expect(told(await read(log, 1))).toEqual(["2 a", "3 b"]));
    });

    it("hang nobody when it has stopped answering without closing a connection", async () => {
      const server = await tcpProxy(redisUrl ?? "");
      await server.open();
      onTestFinished(() => server.cut());
      const { log, frames } = await open({ url: server.url });
      await appendWhenConnected(frames, 1, ["a"]);
      server.freeze();
      await expect(append(frames, 2, ["b"])).rejects.toMatchObject({ name: "FramesUnavailableError" });
      expect(told(await read(log))).toEqual(["1 generation.queued"]);
      await expect(append(frames, 2, ["b"])).rejects.toMatchObject({ name: "FramesUnavailableError" });
    });
  });
});
