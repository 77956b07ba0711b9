import { appendEvents, deleteExpiredEvents, openDatabase, withTenant, type Database } from "@shiftwork/db";
import {
  insertTestChat,
  insertTestGeneration,
  openTestDatabase,
  type TestChat,
  type TestDatabase,
} from "@shiftwork/db/testing";
import type { NewEvent } from "@shiftwork/contracts";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, onTestFinished, vi } from "vitest";
import type { EventLog, SubscribeOptions } from "./event-log.ts";
import { openFrameWriter } from "./frame-writer.ts";
import { openPostgresEventLog } from "./postgres-event-log.ts";
import { openRedisEventLog } from "./redis-event-log.ts";

let test: TestDatabase;
let admin: Database;
let api: Database;
let worker: Database;

beforeAll(async () => {
  test = await openTestDatabase(inject("databaseUrl"));
  const open = (role: "shiftwork_admin" | "shiftwork_api" | "shiftwork_worker") =>
    openDatabase({ url: test.url, role, maxConnections: 4, applicationName: `test-${role}` });
  [admin, api, worker] = [open("shiftwork_admin"), open("shiftwork_api"), open("shiftwork_worker")];
});

afterAll(async () => {
  for (const database of [admin, api, worker]) await database.close();
  await test.drop();
});

/** An open log and how its writers append a reply's frames: `seq` is the last number before them. */
interface Opened {
  readonly log: EventLog;
  append(chat: TestChat, generationId: string, seq: number, events: readonly NewEvent[]): Promise<unknown>;
  /** Forgets what is past its retention, at once. */
  expire(chat: TestChat): Promise<unknown>;
  close(): Promise<void>;
}

const expireStored = (chat: TestChat) =>
  withTenant(worker.db, chat.tenantId, (tx) => deleteExpiredEvents(tx, chat.tenantId, 0));

async function openOnPostgres(): Promise<Opened> {
  const log = await openPostgresEventLog(api);
  return {
    log,
    append: ({ tenantId }, generationId, _seq, events) =>
      withTenant(worker.db, tenantId, (tx) => appendEvents(tx, { tenantId, generationId, events })),
    expire: expireStored,
    close: () => log.close(),
  };
}

async function openOnRedis(url: string, retentionMs: number): Promise<Opened> {
  const server = { url, name: `test-${randomUUID()}`, onError: () => undefined };
  const [log, frames] = [await openRedisEventLog(api, server), openFrameWriter({ ...server, retentionMs })];
  return {
    log,
    append: ({ tenantId }, generationId, afterSeq, events) =>
      // The first one may come before the connection.
      vi.waitFor(() => frames.append({ tenantId, generationId, fence: 1, afterSeq, events })),
    expire: expireStored,
    close: async () => {
      frames.close();
      await log.close();
    },
  };
}

const redisUrl = inject("redisUrl");
const LOGS = [
  { title: "PostgreSQL", open: openOnPostgres },
  redisUrl === null
    ? { title: "Redis (skipped: there is no Redis)", open: null }
    : { title: "Redis", open: (retentionMs: number) => openOnRedis(redisUrl, retentionMs) },
];

const RETENTION_MS = 600_000;

/** As a run's own: behind what it has streamed so far. */
const appendStored = ({ tenantId }: TestChat, generationId: string, afterSeq: number, event: NewEvent) =>
  withTenant(worker.db, tenantId, (tx) => appendEvents(tx, { tenantId, generationId, events: [event], afterSeq }));

/** Those on which the database signals. */
async function loseConnections(): Promise<void> {
  const superuser = openDatabase({
    url: test.url,
    role: new URL(test.url).username as "shiftwork_admin",
    maxConnections: 1,
    applicationName: "test-killer",
  });
  await superuser.client`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query ilike 'listen%' and pid <> pg_backend_pid()
  `;
  await superuser.close();
}

const delta = (text: string): NewEvent => ({ type: "message.delta", data: { delta: text, index: 0 } });

describe.each(LOGS)("the event log on $title", ({ open }) => {
  const describeHere = open === null ? describe.skip : describe;
  describeHere("keeps its contract:", () => {
    let opened: Opened;
    let log: EventLog;
    let chat: TestChat;
    let generationId: string;
    let seq: number;

    beforeEach(async () => {
      opened = await (open ?? openOnPostgres)(RETENTION_MS);
      log = opened.log;
      chat = await insertTestChat(admin.db, api.db);
      generationId = await insertTestGeneration(api.db, chat);
      seq = 1;
      return () => opened.close();
    });

    const read = (after: number, limit = 100) => log.read(chat.tenantId, generationId, after, limit);
    const append = async (...texts: string[]) => {
      await opened.append(chat, generationId, seq, texts.map(delta));
      seq += texts.length;
    };

    /** Resolves at the next signal. */
    const signal = (options?: SubscribeOptions) =>
      new Promise<void>((resolve) => {
        const onAppend = () => {
          stop();
          resolve();
        };
        const stop = log.subscribe(generationId, onAppend, options);
      });

    it("numbers events from 1 without holes, in the order they were appended", async () => {
      await append("a", "b");
      await append("c");
      const events = await read(0);
      expect(events.map((event) => event.seq)).toEqual([1, 2, 3, 4]);
      expect(events.map((event) => (event.type === "message.delta" ? event.data.delta : event.type))).toEqual([
        "generation.queued",
        "a",
        "b",
        "c",
      ]);
    });

    it("reads on from any number, at most the limit", async () => {
      await append("a", "b", "c");
      expect((await read(2)).map((event) => event.seq)).toEqual([3, 4]);
      expect((await read(1, 2)).map((event) => event.seq)).toEqual([2, 3]);
      expect(await read(99)).toEqual([]);
    });

    it("wakes the readers of that generation and nobody else", async () => {
      let woken = 0;
      const other = await insertTestGeneration(api.db, await insertTestChat(admin.db, api.db));
      // Signals come in commit order: after this one none of the other generation's is under way.
      const settled = signal();
      await append("a");
      await settled;
      const stop = log.subscribe(other, () => (woken += 1));
      const mine = signal();
      await append("b");
      await mine;
      stop();
      expect(woken).toBe(0);
    });

    it("wakes who waits for stored events alone when one is stored, and when one may have been missed", async () => {
      const woken = signal({ storedOnly: true });
      await appendStored(chat, generationId, seq, { type: "usage.updated", data: { inputTokens: 1, outputTokens: 2 } });
      await woken;
      const again = signal({ storedOnly: true });
      await loseConnections();
      await again;
    });

    it("shows nothing of a transaction that was rolled back", async () => {
      const rolledBack = withTenant(worker.db, chat.tenantId, async (tx) => {
        await appendEvents(tx, { tenantId: chat.tenantId, generationId, events: [delta("never")] });
        throw new Error("rolled back");
      });
      await expect(rolledBack).rejects.toThrow("rolled back");
      expect(await read(0)).toHaveLength(1);
    });

    it("shows another tenant nothing", async () => {
      const stranger = await insertTestChat(admin.db, api.db);
      expect(await log.read(stranger.tenantId, generationId, 0, 100)).toEqual([]);
    });

    it("wakes every reader after its connection was lost, because something may have been missed", async () => {
      const woken = signal();
      await loseConnections();
      await woken;
      const again = signal();
      await append("after");
      await again;
    });

    it("forgets events past their retention, per tenant", async () => {
      const brief = await (open ?? openOnPostgres)(1);
      onTestFinished(() => brief.close());
      await brief.append(chat, generationId, 1, [delta("a")]);
      await brief.expire(chat);
      await vi.waitFor(async () => expect(await brief.log.read(chat.tenantId, generationId, 0, 100)).toEqual([]));
    });

    it("reads what committed with a row between the frames, in its place", async () => {
      await append("a");
      await append("b");
      await appendStored(chat, generationId, seq, { type: "usage.updated", data: { inputTokens: 1, outputTokens: 2 } });
      seq += 1;
      await append("c");
      const types = (await read(0)).map((event) => `${event.seq} ${event.type}`);
      const frames = ["2 message.delta", "3 message.delta", "4 usage.updated", "5 message.delta"];
      expect(types).toEqual(["1 generation.queued", ...frames]);
      expect((await read(2, 2)).map((event) => event.seq)).toEqual([3, 4]);
    });

    it("pages through any mixture without losing or repeating an event", async () => {
      for (let frame = 0; frame < 4; frame += 1) {
        await append(`a${frame}`, `b${frame}`);
        await appendStored(chat, generationId, seq, { type: "message.reasoning.delta", data: { delta: "hm" } });
        seq += 1;
      }
      const seen: number[] = [];
      for (let page = await read(0, 3); page.length > 0; page = await read(seen.at(-1) ?? 0, 3)) {
        seen.push(...page.map((event) => event.seq));
      }
      expect(seen).toEqual(Array.from({ length: seq }, (_, n) => n + 1));
    });

    it("closes twice without harm", async () => {
      await log.close();
      await log.close();
    });
  });
});
