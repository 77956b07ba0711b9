import {
  claimGeneration,
  DISPATCHED_QUEUE,
  findGeneration,
  heartbeat,
  newId,
  pauseQueue,
  pauseTenant,
  resumeQueue,
  resumeTenant,
  withTenant,
  type NewTenant,
} from "@shiftwork/db";
import { insertAnotherChat, insertTestChat, insertTestGeneration, type TestChat } from "@shiftwork/db/testing";
import { openQueue, type Queue } from "@shiftwork/platform";
import { startFakeOpenAi } from "@shiftwork/providers/testing";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { reconcile } from "../maintenance/reconcile.ts";
import { openBench, type Bench } from "../testing/worker-under-test.ts";
import { createDispatcher, type Dispatcher } from "./dispatcher.ts";

let bench: Bench;
/** Of the test's own: what an earlier test left waiting must not run in this one. */
let queue: Queue;
let dispatcher: Dispatcher;

beforeAll(async () => {
  bench = await openBench(inject("databaseUrl"), inject("redisUrl"));
});

afterAll(() => bench.close());

/** Dispatching sees every tenant: each test starts with empty lines, no workers and an empty queue. */
beforeEach(async () => {
  await bench.worker.db.deleteFrom("generations").execute();
  await bench.worker.db.deleteFrom("workers").execute();
  await resumeQueue(bench.admin.db, DISPATCHED_QUEUE);
  queue = openQueue({ name: `test-${newId()}`, url: inject("redisUrl") ?? bench.url, onError: () => {} });
  dispatcher = newDispatcher();
  return () => queue.close();
});

const newDispatcher = (windowRatio = 1, into: Queue = queue): Dispatcher =>
  createDispatcher({ db: bench.worker.db, queue: into, windowRatio, deadAfterMs: 60_000, lookAroundMs: 60_000 });

async function workers(slots: number): Promise<string> {
  const id = newId();
  await heartbeat(bench.worker.db, { id, host: "h", pid: 1, slots });
  return id;
}
const tenant = (limits: Omit<NewTenant, "id" | "name"> = {}) => insertTestChat(bench.admin.db, bench.api.db, limits);
const one = async (of: TestChat) => insertTestGeneration(bench.api.db, await insertAnotherChat(bench.api.db, of));

async function many(of: TestChat, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  while (ids.length < count) ids.push(await one(of));
  return ids;
}

const generation = (of: TestChat, id: string) =>
  withTenant(bench.api.db, of.tenantId, (tx) => findGeneration(tx, of.tenantId, id));

/** What is dispatched and not claimed, in the order the line had it. */
async function dispatched(of?: TestChat): Promise<readonly string[]> {
  const rows = await bench.worker.db
    .selectFrom("generations")
    .select("id")
    .where("status", "=", "queued")
    .where("dispatched_at", "is not", null)
    .$if(of !== undefined, (query) => query.where("tenant_id", "=", of?.tenantId ?? ""))
    .orderBy("id")
    .execute();
  return rows.map((row) => row.id);
}

/** Ids in the order in which the queue hands them out, until `count` have been. */
function runOrder(count: number): Promise<readonly string[]> {
  const order: string[] = [];
  return new Promise((resolve, reject) => {
    queue
      .consume(
        async (job) => {
          order.push(job.generationId);
          if (order.length === count) resolve(order);
        },
        { concurrency: 1, onError: reject },
      )
      .catch(reject);
  });
}

const claim = (of: TestChat, generationId: string, workerId: string) =>
  withTenant(bench.worker.db, of.tenantId, (tx) =>
    claimGeneration(tx, { tenantId: of.tenantId, generationId, epoch: 0 }, workerId),
  );

const update = (id: string, part: { not_before?: Date; priority?: number; status?: "cancelled" }) =>
  bench.worker.db.updateTable("generations").set(part).where("id", "=", id).execute();

describe("a pass", () => {
  it("fills the window and no more, and goes on from what has ended", async () => {
    const flood = await tenant();
    const ids = await many(flood, 6);
    await dispatcher.runOnce();
    expect(await dispatched()).toEqual([]);
    await workers(2);
    dispatcher = newDispatcher(1.5);
    await dispatcher.runOnce();
    expect(await dispatched()).toEqual(ids.slice(0, 3));
    await dispatcher.runOnce();
    expect(await dispatched()).toEqual(ids.slice(0, 3));
    await update(ids[0]!, { status: "cancelled" });
    await dispatcher.runOnce();
    expect(await dispatched()).toEqual(ids.slice(1, 4));
  });

  it("lets a light tenant's job pass those of a heavy one that wait in the queue already", async () => {
    const [flood, light] = [await tenant(), await tenant()];
    await workers(4);
    const ids = await many(flood, 6);
    await dispatcher.runOnce();
    await workers(2);
    const late = await one(light);
    dispatcher.notice(light.tenantId);
    await dispatcher.runOnce();
    // Four were handed out before it; the flood's fifth came in the same pass.
    expect(await runOrder(6)).toEqual([ids[0], late, ids[1], ids[2], ids[3], ids[4]]);
  });

  it("serves a tenant it was told of, without looking at all others", async () => {
    const [told, untold] = [await tenant(), await tenant()];
    await workers(8);
    // A pass that finds nobody waiting does not look around; this one does.
    const first = await one(told);
    await dispatcher.runOnce();
    const id = await one(told);
    const unseen = await one(untold);
    dispatcher.notice(told.tenantId);
    await dispatcher.runOnce();
    expect(await dispatched()).toEqual([first, id]);
    dispatcher.notice(null);
    await dispatcher.runOnce();
    expect(await dispatched()).toEqual([first, id, unseen]);
  });

  it("serves who comes while the last of their tenant's line is on its way into the queue", async () => {
    const busy = await tenant();
    await workers(8);
    const ids = [await one(busy)];
    dispatcher = newDispatcher(1, {
      ...queue,
      async add(jobs) {
        await queue.add(jobs);
        if (ids.length > 1) return;
        ids.push(await one(busy));
        dispatcher.notice(busy.tenantId);
      },
    });
    await dispatcher.runOnce();
    expect(await dispatched()).toEqual(ids.slice(0, 1));
    await dispatcher.runOnce();
    expect(await dispatched()).toEqual(ids);
  });

  it("keeps a tenant's hard cap always, and its soft cap while another waits", async () => {
    const [hard, soft, other] = [
      await tenant({ maxConcurrency: 2 }),
      await tenant({ concurrencyShare: 1 }),
      await tenant(),
    ];
    await workers(6);
    await many(hard, 4);
    await many(soft, 4);
    await many(other, 3);
    await dispatcher.runOnce();
    expect([await dispatched(hard), await dispatched(soft), await dispatched(other)].map((ids) => ids.length)).toEqual([
      2, 1, 3,
    ]);
    await workers(6);
    await dispatcher.runOnce();
    expect((await dispatched(hard)).length).toBe(2);
    expect((await dispatched(soft)).length).toBe(4);
  });

  it("hands out nothing of a paused tenant or a paused queue, and goes on when resumed", async () => {
    const [paused, other] = [await tenant(), await tenant()];
    await workers(8);
    const [theirs, mine] = [await one(paused), await one(other)];
    await pauseTenant(bench.admin.db, paused.tenantId);
    await pauseQueue(bench.admin.db, DISPATCHED_QUEUE);
    await dispatcher.runOnce();
    expect(await dispatched()).toEqual([]);
    await resumeQueue(bench.admin.db, DISPATCHED_QUEUE);
    await dispatcher.runOnce();
    expect(await dispatched()).toEqual([mine]);
    await resumeTenant(bench.admin.db, paused.tenantId);
    dispatcher.notice(null);
    await dispatcher.runOnce();
    expect(await dispatched()).toEqual([theirs, mine]);
  });

  it("keeps a told wait, says when it is over, and then hands it out", async () => {
    const waiting = await tenant();
    await workers(8);
    const id = await one(waiting);
    await update(id, { not_before: new Date(Date.now() + 60_000) });
    const dueMs = await dispatcher.runOnce();
    expect(dueMs).toBeGreaterThan(30_000);
    expect(dueMs).toBeLessThanOrEqual(60_000);
    expect(await dispatched()).toEqual([]);
    await update(id, { not_before: new Date(Date.now() - 1) });
    await dispatcher.runOnce();
    expect(await dispatched()).toEqual([id]);
    expect(await dispatcher.runOnce()).toBeUndefined();
  });

  it("leaves no place empty that somebody may have, and exceeds no bound, whoever waits", async () => {
    const part = fc.record({
      weight: fc.integer({ min: 1, max: 100 }),
      maxConcurrency: fc.integer({ min: 1, max: 6 }),
      concurrencyShare: fc.integer({ min: 1, max: 6 }),
      waiting: fc.integer({ min: 0, max: 5 }),
    });
    const property = fc.asyncProperty(
      fc.array(part, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 14 }),
      async (parts, slots) => {
        await bench.worker.db.deleteFrom("generations").execute();
        await bench.worker.db.deleteFrom("workers").execute();
        const tenants = await Promise.all(
          parts.map(async ({ waiting, ...limits }) => {
            const chat = await tenant(limits);
            await many(chat, waiting);
            return chat;
          }),
        );
        await workers(slots);
        await newDispatcher().runOnce();
        const counts = await Promise.all(tenants.map(async (each) => (await dispatched(each)).length));
        const allowed = parts.map((each) => Math.min(each.waiting, each.maxConcurrency));
        const total = (list: readonly number[]): number => list.reduce((sum, count) => sum + count, 0);
        for (const [index, count] of counts.entries()) expect(count).toBeLessThanOrEqual(allowed[index] ?? 0);
        expect(total(counts)).toBe(Math.min(slots, total(allowed)));
      },
    );
    await fc.assert(property, { seed: 8, numRuns: 8, endOnFailure: true });
  });
});

describe("after a crash or a change of the leader", () => {
  it("what was added and not marked is added again and runs once", async () => {
    const chat = await tenant();
    await workers(2);
    const [id, marker] = [await one(chat), await one(chat)];
    await queue.add([{ tenantId: chat.tenantId, generationId: id, epoch: 0, priority: 1 }]);
    await dispatcher.runOnce();
    expect(await dispatched()).toEqual([id, marker]);
    expect(await runOrder(2)).toEqual([id, marker]);
  });

  it("a run claimed before its dispatch was marked counts for its tenant", async () => {
    const chat = await tenant({ maxConcurrency: 1 });
    const id = await one(chat);
    await claim(chat, id, await workers(8));
    await one(chat);
    await dispatcher.runOnce();
    expect(await dispatched()).toEqual([]);
  });

  it("the next leader goes on with the rows alone, whatever the last one knew", async () => {
    const [flood, light] = [await tenant(), await tenant()];
    await workers(3);
    const ids = await many(flood, 5);
    await dispatcher.runOnce();
    const next = newDispatcher();
    await update(ids[0]!, { status: "cancelled" });
    const late = await one(light);
    await next.runOnce();
    expect(await dispatched()).toEqual([ids[1], ids[2], late]);
    await update(late, { status: "cancelled" });
    // The former leader leads again; what it had noticed before is of no use.
    dispatcher.forget();
    await one(light);
    await dispatcher.runOnce();
    expect((await dispatched(light)).length).toBe(1);
  });

  it("a queue that cannot be reached costs nothing: the pass fails, the next one hands out the same", async () => {
    const chat = await tenant();
    await workers(2);
    const id = await one(chat);
    const usable = queue;
    queue = openQueue({ name: `test-${newId()}`, url: "redis://127.0.0.1:1", onError: () => {} });
    const cutOff = newDispatcher();
    await expect(cutOff.runOnce()).rejects.toThrow(/cannot be reached/);
    expect(await dispatched()).toEqual([]);
    await queue.close();
    queue = usable;
    await dispatcher.runOnce();
    expect(await dispatched()).toEqual([id]);
  });
});

describe("what is dispatched and not claimed", () => {
  const reconcileOnce = (unclaimedAfterMs = 60_000) =>
    reconcile({
      db: bench.worker.db,
      queue,
      frames: null,
      deadAfterMs: 60_000,
      unclaimedAfterMs,
      deadlineGraceMs: 60_000,
    });

  it("is taken back when its tenant is paused, out of the queue too; what runs goes on", async () => {
    const [paused, other] = [await tenant(), await tenant()];
    const workerId = await workers(8);
    const [running, waiting, theirs] = [await one(paused), await one(paused), await one(other)];
    await dispatcher.runOnce();
    await claim(paused, running, workerId);
    await pauseTenant(bench.admin.db, paused.tenantId);
    await reconcileOnce();
    expect(await dispatched()).toEqual([theirs]);
    expect(await queue.state({ generationId: waiting, epoch: 0 })).toBe("gone");
    expect(await generation(paused, waiting)).toMatchObject({ status: "queued", epoch: 1, attempts: 0 });
    expect(await generation(paused, running)).toMatchObject({ status: "running" });
    await resumeTenant(bench.admin.db, paused.tenantId);
    dispatcher.notice(null);
    await dispatcher.runOnce();
    expect(await queue.state({ generationId: waiting, epoch: 1 })).toBe("waiting");
  });

  it("is taken back when the queue is paused", async () => {
    const chat = await tenant();
    await workers(8);
    const id = await one(chat);
    await dispatcher.runOnce();
    await pauseQueue(bench.admin.db, DISPATCHED_QUEUE);
    await reconcileOnce();
    expect(await generation(chat, id)).toMatchObject({ status: "queued", epoch: 1, dispatchedAt: null });
  });

  it("is ranked anew when it has waited long: no stream of other tenants' new jobs passes it for ever", async () => {
    const [former, newcomer] = [await tenant(), await tenant()];
    await workers(3);
    const ids = await many(former, 3);
    await dispatcher.runOnce();
    // Its first two end; the third still has the rank of a third.
    for (const id of ids.slice(0, 2)) {
      await queue.remove({ generationId: id, epoch: 0 });
      await update(id, { status: "cancelled" });
    }
    await reconcileOnce(0);
    const late = await one(newcomer);
    dispatcher.notice(null);
    await dispatcher.runOnce();
    expect(await runOrder(2)).toEqual([ids[2], late]);
  });
});

describe("a running worker", () => {
  const HOUR_MS = 3_600_000;

  it("starts a turn as soon as its signal comes, and a told wait when it is over, however rarely it looks around", async () => {
    const fake = await startFakeOpenAi();
    const chat = await bench.chatWith(fake.baseUrl);
    const worker = await bench.startWorker({ DISPATCH_INTERVAL_MS: HOUR_MS });
    const first = await insertTestGeneration(bench.api.db, chat);
    await bench.ended(chat, first);
    await pauseTenant(bench.admin.db, chat.tenantId);
    const told = await insertTestGeneration(bench.api.db, await insertAnotherChat(bench.api.db, chat));
    const notBefore = new Date(Date.now() + 400);
    await update(told, { not_before: notBefore });
    await resumeTenant(bench.admin.db, chat.tenantId);
    await bench.ended(chat, told);
    expect((await generation(chat, told))?.startedAt?.getTime()).toBeGreaterThanOrEqual(notBefore.getTime());
    await worker.stop(0);
    await fake.close();
  });
});
