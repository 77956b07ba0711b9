import { appendEvents, deleteExpiredEvents, openDatabase, withTenant, type Database } from "@shiftwork/db";
import {
  insertTestChat,
  insertTestGeneration,
  openTestDatabase,
  type TestChat,
  type TestDatabase,
} from "@shiftwork/db/testing";
import type { NewEvent } from "@shiftwork/contracts";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import type { EventLog } from "./event-log.ts";
import { openPostgresEventLog } from "./postgres-event-log.ts";

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

/** Each adapter: how it is opened, and how a writer appends. */
const ADAPTERS = {
  postgres: {
    open: () => openPostgresEventLog(api),
    append: (chat: TestChat, generationId: string, events: readonly NewEvent[]) =>
      withTenant(worker.db, chat.tenantId, (tx) => appendEvents(tx, { tenantId: chat.tenantId, generationId, events })),
  },
} as const;

const delta = (text: string): NewEvent => ({ type: "message.delta", data: { delta: text, index: 0 } });

describe.each(Object.entries(ADAPTERS))("the event log on %s", (_, adapter) => {
  let log: EventLog;
  let chat: TestChat;
  let generationId: string;

  beforeEach(async () => {
    log = await adapter.open();
    chat = await insertTestChat(admin.db, api.db);
    generationId = await insertTestGeneration(api.db, chat);
    return () => log.close();
  });

  const read = (after: number, limit = 100) => log.read(chat.tenantId, generationId, after, limit);
  const append = (...texts: string[]) => adapter.append(chat, generationId, texts.map(delta));

  /** Resolves at the next signal. */
  const signal = () =>
    new Promise<void>((resolve) => {
      const stop = log.subscribe(generationId, () => {
        stop();
        resolve();
      });
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
    await woken;
    const again = signal();
    await append("after");
    await again;
  });

  it("forgets events past their retention, per tenant", async () => {
    await append("a");
    const deleted = await withTenant(worker.db, chat.tenantId, (tx) => deleteExpiredEvents(tx, chat.tenantId, 0));
    expect(deleted).toBe(2);
    expect(await read(0)).toEqual([]);
  });

  it("closes twice without harm", async () => {
    await log.close();
    await log.close();
  });
});
