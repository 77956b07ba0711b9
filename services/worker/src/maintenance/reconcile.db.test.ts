import type { NewEvent } from "@shiftwork/contracts";
import {
  appendEvents,
  appendEventsFenced,
  claimGeneration,
  findGeneration,
  findMessage,
  markDispatched,
  newId,
  requestCancel,
  withTenant,
  type Claim,
} from "@shiftwork/db";
import { insertAnotherChat, insertTestGeneration, type TestChat } from "@shiftwork/db/testing";
import { startFakeOpenAi, type FakeOpenAi } from "@shiftwork/providers/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { createActiveRuns } from "../generation/active-runs.ts";
import { openBench, type Bench } from "../testing/worker-under-test.ts";
import { expire, expireEverywhere } from "./expire.ts";
import { createOwnLease } from "./own-lease.ts";
import { reconcile } from "./reconcile.ts";
import { sweepRuns } from "./sweep-runs.ts";
import { takeBack } from "./take-back.ts";

let bench: Bench;
let fake: FakeOpenAi;
let chat: TestChat;

beforeAll(async () => {
  bench = await openBench(inject("databaseUrl"), inject("redisUrl"));
  fake = await startFakeOpenAi();
});

beforeEach(async () => {
  chat = await bench.chatWith(fake.baseUrl);
});

afterAll(async () => {
  await fake.close();
  await bench.close();
});

const reconcileOnce = (overrides = {}) =>
  reconcile({
    db: bench.worker.db,
    queue: bench.queue,
    frames: null,
    deadAfterMs: 5_000,
    unclaimedAfterMs: 0,
    deadlineGraceMs: 0,
    ...overrides,
  });
const generation = (id: string) =>
  withTenant(bench.api.db, chat.tenantId, (tx) => findGeneration(tx, chat.tenantId, id));

async function claimAs(workerId: string): Promise<string> {
  const generationId = await insertTestGeneration(bench.api.db, chat);
  await withTenant(bench.worker.db, chat.tenantId, (tx) =>
    claimGeneration(tx, { tenantId: chat.tenantId, generationId, epoch: 0 }, workerId),
  );
  return generationId;
}

describe("the reconciler", () => {
  it("sends out again, under a new epoch, what the queue has lost", async () => {
    const id = await insertTestGeneration(bench.api.db, chat);
    const job = { tenantId: chat.tenantId, generationId: id, epoch: 0 };
    await bench.queue.add([{ ...job, priority: 1 }]);
    await markDispatched(bench.worker.db, [job]);
    await reconcileOnce({ unclaimedAfterMs: 60_000 });
    expect(await generation(id)).toMatchObject({ status: "queued", epoch: 0 });
    await bench.queue.remove(job);
    await reconcileOnce();
    expect(await generation(id)).toMatchObject({ status: "queued", epoch: 1, dispatchedAt: null });
    const worker = await bench.startWorker({ WORKER_DEAD_AFTER_MS: 60_000 });
    await bench.ended(chat, id);
    await worker.stop(0);
    expect(await generation(id)).toMatchObject({ status: "completed", attempts: 1 });
  });

  it("ends a queued generation at its deadline, without any worker", async () => {
    const id = await insertTestGeneration(bench.api.db, chat, -1);
    await reconcileOnce();
    expect(await generation(id)).toMatchObject({ status: "failed", errorCode: "DEADLINE_EXCEEDED" });
  });

  it("leaves the run of a living worker alone and takes that of a silent one", async () => {
    const workerId = newId();
    await sweepRuns(bench.worker.db, { id: workerId, host: "h", pid: 1, slots: 1 }, createActiveRuns());
    const id = await claimAs(workerId);
    await reconcileOnce();
    expect(await generation(id)).toMatchObject({ status: "running" });
    await reconcileOnce({ deadAfterMs: 0 });
    expect(await generation(id)).toMatchObject({ status: "queued", epoch: 1 });
  });
});

describe("the reconciler, while the run's worker is slow but alive", () => {
  const secondWord: NewEvent = { type: "message.delta", data: { delta: "second.", index: 6 } };
  const firstWord: NewEvent = { type: "message.delta", data: { delta: "First ", index: 0 } };

  /** The worker writes `late` in a transaction that is open while the reconciler comes, and commits when it waits. */
  async function whileWriting(late: NewEvent, claim: Claim): Promise<void> {
    const { tenantId, generationId, fence } = claim;
    await withTenant(bench.worker.db, tenantId, async (tx) => {
      const append = { tenantId, generationId, fence, afterSeq: claim.lastSeq + 1, events: [late] };
      expect(await appendEventsFenced(tx, append)).toBe(true);
      reconciling = reconcileOnce();
      await somebodyWaitsForALock();
    });
    await reconciling;
  }
  let reconciling: Promise<void> = Promise.resolve();

  async function somebodyWaitsForALock(): Promise<void> {
    const waiting = () => bench.admin.client`select from pg_locks where not granted limit 1`;
    while ((await waiting()).length === 0) await new Promise(setImmediate);
  }

  async function claimWith(deadlineMs: number, events: readonly NewEvent[]): Promise<Claim> {
    const { tenantId } = chat;
    const generationId = await insertTestGeneration(bench.api.db, chat, deadlineMs);
    return withTenant(bench.worker.db, tenantId, async (tx) => {
      const claim = await claimGeneration(tx, { tenantId, generationId, epoch: 0 }, newId());
      if (claim === null) throw new Error("it could not be claimed");
      if (events.length > 0) await appendEvents(tx, { tenantId, generationId, events });
      return claim;
    });
  }

  it("stores the word that is being streamed at that moment with the rest", async () => {
    const claim = await claimWith(60_000, [firstWord]);
    await withTenant(bench.api.db, chat.tenantId, (tx) => requestCancel(tx, chat.tenantId, claim.generationId, null));
    await whileWriting(secondWord, claim);
    const { outputMessageId } = (await generation(claim.generationId)) ?? {};
    const stored = await withTenant(bench.api.db, chat.tenantId, (tx) =>
      findMessage(tx, chat.tenantId, chat.chatId, outputMessageId ?? ""),
    );
    expect(stored).toMatchObject({ content: "First second.", partial: true });
  });

  it("keeps of a cancelled run what was streamed after readers were told to throw the rest away", async () => {
    const data = { attempt: 1, errorCode: "PROVIDER_UNAVAILABLE", nextAttemptAt: null, resetOutput: true } as const;
    const claim = await claimWith(60_000, [firstWord, { type: "generation.retrying", data }, firstWord]);
    await withTenant(bench.api.db, chat.tenantId, (tx) => requestCancel(tx, chat.tenantId, claim.generationId, null));
    await reconcileOnce();
    const { outputMessageId } = (await generation(claim.generationId)) ?? {};
    const stored = await withTenant(bench.api.db, chat.tenantId, (tx) =>
      findMessage(tx, chat.tenantId, chat.chatId, outputMessageId ?? ""),
    );
    expect(stored).toMatchObject({ content: firstWord.data.delta, partial: true });
  });

  it("tells readers to throw away a first word that was being streamed when it took the run", async () => {
    const claim = await claimWith(60_000, []);
    await whileWriting({ ...firstWord }, { ...claim, lastSeq: claim.lastSeq - 1 });
    const events = await bench.events.read(chat.tenantId, claim.generationId, 0, 100);
    expect(events.at(-1)).toMatchObject({ type: "generation.retrying", data: { resetOutput: true } });
  });
});

/** A cancelled run whose reply is there already: its end is refused. */
async function breakRun(id: string): Promise<void> {
  await withTenant(bench.api.db, chat.tenantId, (tx) => requestCancel(tx, chat.tenantId, id, null));
  await withTenant(bench.worker.db, chat.tenantId, async (tx) => {
    const events = [{ type: "message.delta", data: { delta: "Half", index: 0 } }] as const;
    await appendEvents(tx, { tenantId: chat.tenantId, generationId: id, events });
    const stray = { id: newId(), chat_id: chat.chatId, seq: 9, generation_id: id, tenant_id: chat.tenantId };
    await tx
      .insertInto("messages")
      .values({ ...stray, role: "assistant", content: "x", tool_calls: [], meta: {} })
      .execute();
  });
}

describe("the reconciler, when one generation cannot be put right", () => {
  it("still puts right the others, those past their deadline included, and then says what failed", async () => {
    await breakRun(await claimAs(newId()));
    chat = await bench.chatWith(fake.baseUrl);
    const lost = await claimAs(newId());
    const late = await insertTestGeneration(bench.api.db, await insertAnotherChat(bench.api.db, chat), -1);
    await expect(reconcileOnce()).rejects.toThrow(/messages_one_reply_per_generation/);
    expect(await generation(lost)).toMatchObject({ status: "queued", epoch: 1 });
    expect(await generation(late)).toMatchObject({ status: "failed", errorCode: "DEADLINE_EXCEEDED" });
  });
});

describe("a worker's sweep", () => {
  const row = { id: newId(), host: "h", pid: 1, slots: 1 };

  it("renews its lease though a run that it gave up cannot be put right", async () => {
    const id = newId();
    await breakRun(await claimAs(id));
    const sweep = () => sweepRuns(bench.worker.db, { ...row, id }, createActiveRuns());
    const lease = createOwnLease({ sweep, deadAfterMs: 60_000 });
    await expect(takeBack(bench.worker.db, await lease.renew(), null)).rejects.toThrow(/one_reply_per_generation/);
    expect(lease.isOver()).toBe(false);
  });

  it("puts back a run that this process has given up", async () => {
    const id = await claimAs(row.id);
    await takeBack(bench.worker.db, await sweepRuns(bench.worker.db, row, createActiveRuns()), null);
    expect(await generation(id)).toMatchObject({ status: "queued", epoch: 1 });
  });

  it("aborts a run that was taken away, and leaves one alone that was claimed after it asked", async () => {
    const id = await claimAs(row.id);
    const runs = createActiveRuns();
    const taken = Object.assign(runs.open(id), { fence: 99, claimedAtMs: 0 });
    const fresh = Object.assign(runs.open(newId()), { fence: 1, claimedAtMs: Infinity });
    await sweepRuns(bench.worker.db, row, runs);
    expect(taken.signal.reason).toMatchObject({ abortCause: "fenced" });
    expect(fresh.signal.aborted).toBe(false);
  });
});

it("expiry removes events and idempotency keys past their time, and only those, of silent tenants too", async () => {
  const worker = await bench.startWorker();
  const id = await insertTestGeneration(bench.api.db, chat);
  await bench.ended(chat, id);
  await worker.stop(0);
  const key = (name: string, expiresAt: Date) =>
    withTenant(bench.api.db, chat.tenantId, (tx) =>
      tx
        .insertInto("idempotency_keys")
        .values({
          tenant_id: chat.tenantId,
          method: "POST",
          path: "/",
          key: name,
          fingerprint: Buffer.from("f"),
          generation_id: null,
          status: 202,
          body: {},
          expires_at: expiresAt,
        })
        .execute(),
    );
  const keysLeft = async () =>
    (
      await withTenant(bench.api.db, chat.tenantId, (tx) =>
        tx.selectFrom("idempotency_keys").select("key").orderBy("key").execute(),
      )
    ).map((row) => row.key);
  await key("old", new Date(Date.now() - 1_000));
  await key("new", new Date(Date.now() + 60_000));
  await expire(bench.worker.db, 60_000);
  expect((await bench.events.read(chat.tenantId, id, 0, 100)).length).toBeGreaterThan(0);
  await expire(bench.worker.db, 0);
  expect(await bench.events.read(chat.tenantId, id, 0, 100)).toEqual([]);
  expect(await keysLeft()).toEqual(["new"]);
  await withTenant(bench.worker.db, chat.tenantId, (tx) =>
    tx
      .updateTable("generations")
      .set({ finished_at: new Date(0) })
      .where("tenant_id", "=", chat.tenantId)
      .execute(),
  );
  await key("old", new Date(Date.now() - 1_000));
  await expire(bench.worker.db, 0);
  expect(await keysLeft()).toEqual(["new", "old"]);
  await expireEverywhere(bench.worker.db, 0);
  expect(await keysLeft()).toEqual(["new"]);
});
