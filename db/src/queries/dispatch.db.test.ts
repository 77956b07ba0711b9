import { sql } from "kysely";
import { uuidv7 } from "uuidv7";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { openDatabase, type Database } from "../client.ts";
import {
  insertAnotherChat,
  insertTestChat,
  insertTestGeneration,
  openTestDatabase,
  type TestChat,
  type TestDatabase,
} from "../testing/index.ts";
import { withTenant, type Tx } from "../transaction.ts";
import {
  endDueWaits,
  findHeads,
  findReadyAmong,
  findReadyTenants,
  findUnclaimed,
  markDispatched,
  readDispatchWindow,
  undoDispatch,
} from "./dispatch.ts";
import { claimGeneration } from "./generation-lifecycle.ts";
import { DISPATCH_CHANNEL, findGeneration } from "./generations.ts";
import {
  countQueueByTenant,
  countTenantQueue,
  LAST_QUEUE_POSITION,
  readQueuePosition,
  sumQueueCounts,
} from "./queue-stats.ts";
import { DISPATCHED_QUEUE, pauseQueue, readQueuePause, resumeQueue } from "./queues.ts";
import { pauseTenant, resumeTenant } from "./tenants.ts";
import { heartbeat } from "./workers.ts";

let test: TestDatabase;
let admin: Database;
let api: Database;
let worker: Database;
let chat: TestChat;

beforeAll(async () => {
  test = await openTestDatabase(inject("databaseUrl"));
  const open = (role: "shiftwork_admin" | "shiftwork_api" | "shiftwork_worker") =>
    openDatabase({ url: test.url, role, maxConnections: 4, applicationName: "test" });
  [admin, api, worker] = [open("shiftwork_admin"), open("shiftwork_api"), open("shiftwork_worker")];
});

afterAll(async () => {
  await Promise.all([admin.close(), api.close(), worker.close()]);
  await test.drop();
});

/** These queries see every tenant: each test starts with nothing in any line. */
beforeEach(async () => {
  await sql`delete from generations`.execute(worker.db);
  await sql`delete from workers`.execute(worker.db);
  chat = await insertTestChat(admin.db, api.db);
});

interface Part {
  readonly priority?: number;
  readonly not_before?: Date;
  readonly blocked_by?: string;
  readonly created_at?: Date;
}

async function queued(tenant: TestChat, part: Part = {}): Promise<string> {
  const id = await insertTestGeneration(api.db, await insertAnotherChat(api.db, tenant));
  const row = worker.db.updateTable("generations").where("tenant_id", "=", tenant.tenantId).where("id", "=", id);
  if (Object.keys(part).length > 0) await row.set(part).execute();
  return id;
}

const job = (tenant: TestChat, generationId: string, epoch = 0) => ({ tenantId: tenant.tenantId, generationId, epoch });
const inAnHour = () => new Date(Date.now() + 3_600_000);
const aSecondAgo = () => new Date(Date.now() - 1_000);
const headsOf = async (tenant: TestChat, count: number) =>
  (await findHeads(worker.db, [{ tenantId: tenant.tenantId, count }])).map((head) => head.generationId);
const readyTenants = async () => (await findReadyTenants(worker.db)).map((tenant) => tenant.tenantId).sort();

async function claim(tenant: TestChat, generationId: string): Promise<void> {
  const claimed = await withTenant(worker.db, tenant.tenantId, (tx) =>
    claimGeneration(tx, job(tenant, generationId), uuidv7()),
  );
  expect(claimed).not.toBeNull();
}

describe("the window", () => {
  it("is the slots of living workers, and what is dispatched or runs by tenant", async () => {
    await heartbeat(worker.db, { id: uuidv7(), host: "h", pid: 1, slots: 5 });
    await heartbeat(worker.db, { id: uuidv7(), host: "h", pid: 2, slots: 3 });
    const silent = uuidv7();
    await heartbeat(worker.db, { id: silent, host: "h", pid: 3, slots: 100 });
    await sql`update workers set heartbeat_at = now() - interval '1 minute' where id = ${silent}`.execute(worker.db);
    const [dispatched, running] = [await queued(chat), await queued(chat)];
    await queued(chat);
    await markDispatched(worker.db, [job(chat, dispatched), job(chat, running)]);
    await claim(chat, running);
    const window = await readDispatchWindow(worker.db, 5_000);
    expect(window).toEqual({ slots: 8, paused: false, inFlight: new Map([[chat.tenantId, 2]]), nextDueMs: null });
  });

  it("counts a run whose dispatch was never marked", async () => {
    await claim(chat, await queued(chat));
    expect((await readDispatchWindow(worker.db, 5_000)).inFlight).toEqual(new Map([[chat.tenantId, 1]]));
  });
});

describe("a line", () => {
  it("begins with the first priority, then the oldest, and shows one more than was asked for", async () => {
    const ids = [await queued(chat), await queued(chat), await queued(chat), await queued(chat, { priority: 1 })];
    expect(await headsOf(chat, 2)).toEqual([ids[3], ids[0], ids[1]]);
    expect(await headsOf(chat, 9)).toEqual([ids[3], ids[0], ids[1], ids[2]]);
  });

  it("leaves out who waits for a time or for another, and who is dispatched", async () => {
    const first = await queued(chat);
    await queued(chat, { not_before: inAnHour() });
    await queued(chat, { blocked_by: first });
    const next = await queued(chat);
    await markDispatched(worker.db, [job(chat, first)]);
    expect(await headsOf(chat, 9)).toEqual([next]);
  });

  it("is ready while somebody stands in it and its tenant is not paused", async () => {
    const [paused, waiting] = [await insertTestChat(admin.db, api.db), await insertTestChat(admin.db, api.db)];
    await queued(chat);
    await queued(chat);
    await queued(paused);
    await queued(waiting, { not_before: inAnHour() });
    await pauseTenant(admin.db, paused.tenantId);
    expect(await readyTenants()).toEqual([chat.tenantId]);
    const all = [chat, paused, waiting].map((tenant) => tenant.tenantId);
    expect((await findReadyAmong(worker.db, all)).map((tenant) => tenant.tenantId)).toEqual([chat.tenantId]);
    await resumeTenant(admin.db, paused.tenantId);
    expect(await readyTenants()).toEqual([chat.tenantId, paused.tenantId].sort());
  });

  it("comes with its tenant's limits", async () => {
    const limits = { weight: 7, concurrencyShare: 3, maxConcurrency: 11 };
    const limited = await insertTestChat(admin.db, api.db, limits);
    await queued(limited);
    expect(await findReadyTenants(worker.db)).toEqual([{ tenantId: limited.tenantId, ...limits }]);
  });
});

describe("a told wait", () => {
  it("announces when the first is over, and ends then", async () => {
    const [over, later] = [
      await queued(chat, { not_before: aSecondAgo() }),
      await queued(chat, { not_before: inAnHour() }),
    ];
    expect((await readDispatchWindow(worker.db, 5_000)).nextDueMs).toBeLessThan(0);
    expect(await endDueWaits(worker.db)).toEqual([chat.tenantId]);
    expect(await headsOf(chat, 9)).toEqual([over]);
    const due = (await readDispatchWindow(worker.db, 5_000)).nextDueMs ?? 0;
    expect(due).toBeGreaterThan(3_000_000);
    expect(await endDueWaits(worker.db)).toEqual([]);
    expect(later).not.toBe(over);
  });
});

describe("a dispatch", () => {
  it("given back has a new epoch and stands in the line again; claimed or given back before, it stays as it is", async () => {
    const [back, claimed] = [await queued(chat), await queued(chat)];
    await markDispatched(worker.db, [job(chat, back), job(chat, claimed)]);
    await claim(chat, claimed);
    expect(await undoDispatch(worker.db, job(chat, back))).toBe(true);
    expect(await undoDispatch(worker.db, job(chat, back))).toBe(false);
    expect(await undoDispatch(worker.db, job(chat, claimed))).toBe(false);
    expect(await findHeads(worker.db, [{ tenantId: chat.tenantId, count: 9 }])).toEqual([job(chat, back, 1)]);
  });

  it("is not marked under an epoch that has passed", async () => {
    const id = await queued(chat);
    await markDispatched(worker.db, [job(chat, id)]);
    await undoDispatch(worker.db, job(chat, id));
    await markDispatched(worker.db, [job(chat, id)]);
    expect(await headsOf(chat, 9)).toEqual([id]);
  });

  it("is unclaimed when it is old, or at once when its tenant or the queue is paused", async () => {
    const other = await insertTestChat(admin.db, api.db);
    const [old, fresh, theirs] = [await queued(chat), await queued(chat), await queued(other)];
    await markDispatched(worker.db, [job(chat, old), job(chat, fresh), job(other, theirs)]);
    await sql`update generations set dispatched_at = now() - interval '1 minute' where id = ${old}`.execute(worker.db);
    const unclaimed = async () => (await findUnclaimed(worker.db, 5_000, 10)).map((each) => each.generationId);
    expect(await unclaimed()).toEqual([old]);
    await pauseTenant(admin.db, other.tenantId);
    expect(await unclaimed()).toEqual([old, theirs]);
    await pauseQueue(admin.db, DISPATCHED_QUEUE);
    expect((await unclaimed()).sort()).toEqual([old, fresh, theirs].sort());
    expect((await readDispatchWindow(worker.db, 5_000)).paused).toBe(true);
    await resumeQueue(admin.db, DISPATCHED_QUEUE);
    expect(await unclaimed()).toEqual([old, theirs]);
  });
});

describe("a pause", () => {
  it("keeps its first time, and is over when resumed", async () => {
    await pauseQueue(admin.db, "spare");
    const since = await readQueuePause(admin.db, "spare");
    await pauseQueue(admin.db, "spare");
    expect(since).toBeInstanceOf(Date);
    expect(await readQueuePause(admin.db, "spare")).toEqual(since);
    await resumeQueue(admin.db, "spare");
    expect(await readQueuePause(admin.db, "spare")).toBeNull();
    expect(await readQueuePause(admin.db, "unknown")).toBeNull();
  });

  it("of a tenant there is none of is refused, and no service but the operator's may set one", async () => {
    expect(await pauseTenant(admin.db, uuidv7())).toBe(false);
    expect(await resumeTenant(admin.db, uuidv7())).toBe(false);
    await expect(pauseTenant(worker.db, chat.tenantId)).rejects.toThrow(/permission denied/);
    await expect(pauseQueue(api.db, "spare")).rejects.toThrow(/permission denied/);
  });

  it("and its end make the dispatcher look at all lines, a new turn at its own", async () => {
    const told: string[] = [];
    let heardAll: () => void = () => {};
    const all = new Promise<void>((resolve) => (heardAll = resolve));
    const listener = await worker.client.listen(DISPATCH_CHANNEL, (payload) => {
      told.push(payload);
      if (told.length === 3) heardAll();
    });
    await pauseTenant(admin.db, chat.tenantId);
    await queued(chat);
    await resumeTenant(admin.db, chat.tenantId);
    await all;
    await listener.unlisten();
    expect(told).toEqual(["", chat.tenantId, ""]);
  });
});

describe("the numbers of the queue", () => {
  it("tell where every active generation stands, per tenant and in all", async () => {
    const other = await insertTestChat(admin.db, api.db);
    const dispatched = await queued(chat);
    await markDispatched(worker.db, [job(chat, dispatched)]);
    await claim(chat, await queued(chat));
    await queued(chat, { created_at: new Date(Date.now() - 60_000) });
    await queued(chat, { not_before: inAnHour(), created_at: new Date(0) });
    await queued(chat, { blocked_by: dispatched, created_at: new Date(0) });
    await queued(other);
    const mine = await withTenant(api.db, chat.tenantId, (tx) => countTenantQueue(tx, chat.tenantId));
    expect(mine).toMatchObject({ waiting: 1, blocked: 1, toldToWait: 1, dispatched: 1, running: 1 });
    expect(mine.oldestWaitMs).toBeGreaterThanOrEqual(60_000);
    expect(mine.oldestWaitMs).toBeLessThan(120_000);
    const all = await countQueueByTenant(worker.db);
    expect(all.map((tenant) => tenant.tenantId)).toEqual([chat.tenantId, other.tenantId]);
    expect(sumQueueCounts(all)).toMatchObject({ waiting: 2, blocked: 1, toldToWait: 1, dispatched: 1, running: 1 });
    expect(sumQueueCounts(all).oldestWaitMs).toBe(all[0]?.oldestWaitMs);
  });

  it("of an empty queue are zero, without a wait", async () => {
    const none = { waiting: 0, blocked: 0, toldToWait: 0, dispatched: 0, running: 0, oldestWaitMs: null };
    expect(await withTenant(api.db, chat.tenantId, (tx) => countTenantQueue(tx, chat.tenantId))).toEqual(none);
    expect(sumQueueCounts(await countQueueByTenant(worker.db))).toEqual(none);
  });
});

describe("a place in the line", () => {
  const position = (tenant: TestChat, id: string) =>
    withTenant(api.db, tenant.tenantId, (tx) => readQueuePosition(tx, tenant.tenantId, id));

  it("counts those before it in its tenant's line only", async () => {
    const other = await insertTestChat(admin.db, api.db);
    await queued(other);
    const [first, second, third] = [await queued(chat), await queued(chat), await queued(chat)];
    const urgent = await queued(chat, { priority: 1 });
    expect(await Promise.all([urgent, first, second, third].map((id) => position(chat, id)))).toEqual([1, 2, 3, 4]);
    expect(await position(other, first)).toBeNull();
  });

  it("is none for what is dispatched, runs, or waits for something", async () => {
    const dispatched = await queued(chat);
    await markDispatched(worker.db, [job(chat, dispatched)]);
    const ids = [
      dispatched,
      await queued(chat, { not_before: inAnHour() }),
      await queued(chat, { blocked_by: dispatched }),
    ];
    expect(await Promise.all(ids.map((id) => position(chat, id)))).toEqual([null, null, null]);
  });

  it("is counted up to a bound", async () => {
    const last = await queued(chat, { priority: 9 });
    const row = await withTenant(api.db, chat.tenantId, (tx) => findGeneration(tx, chat.tenantId, last));
    await sql`
      insert into generations (tenant_id, id, action, provider_id, provider_kind, model, strategy, seed, deadline_at)
      select ${chat.tenantId}, gen_random_uuid(), 'reply', ${chat.providerId}, 'echo', 'echo-1', 'truncate', 's', ${row?.deadlineAt}
      from generate_series(1, ${LAST_QUEUE_POSITION + 5})
    `.execute(worker.db);
    expect(await position(chat, last)).toBe(LAST_QUEUE_POSITION);
  });
});

describe("with 10,000 waiting of one tenant and 300 others", () => {
  it("a pass reads the heads of the lines, not the lines", async () => {
    await sql`
      insert into generations (tenant_id, id, action, provider_id, provider_kind, model, strategy, seed, deadline_at)
      select ${chat.tenantId}, gen_random_uuid(), 'reply', ${chat.providerId}, 'echo', 'e', 't', 's', now() + interval '1 hour'
      from generate_series(1, 10000)
    `.execute(worker.db);
    await sql`
      with newcomers as (
        insert into tenants (id, name) select gen_random_uuid(), 'many' from generate_series(1, 300) returning id
      )
      select count(*) from newcomers
    `.execute(admin.db);
    await sql`
      insert into generations (tenant_id, id, action, provider_id, provider_kind, model, strategy, seed, deadline_at)
      select id, gen_random_uuid(), 'reply', ${chat.providerId}, 'echo', 'e', 't', 's', now() + interval '1 hour'
      from tenants where name = 'many'
    `.execute(worker.db);
    await worker.db.transaction().execute(async (tx) => {
      const before = await rowsRead(tx);
      expect(await findHeads(tx, [{ tenantId: chat.tenantId, count: 5 }])).toHaveLength(6);
      expect(await findReadyAmong(tx, [chat.tenantId])).toHaveLength(1);
      await readDispatchWindow(tx, 5_000);
      expect((await rowsRead(tx)) - before).toBeLessThan(50);
      expect(await findReadyTenants(tx)).toHaveLength(301);
      expect((await rowsRead(tx)) - before).toBeLessThan(1_000);
    });
  });
});

/** Rows of `generations` this connection has read since it last told the server's statistics, by index or by scan. */
async function rowsRead(tx: Tx): Promise<number> {
  const { rows } = await sql<{ read: number }>`
    select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read
    from pg_stat_xact_user_tables where relname = 'generations'
  `.execute(tx);
  return rows[0]?.read ?? 0;
}
