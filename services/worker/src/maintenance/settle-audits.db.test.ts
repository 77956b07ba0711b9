import { findChatAudit, newId, withTenant } from "@shiftwork/db";
import { insertTestGeneration, type TestChat } from "@shiftwork/db/testing";
import { startFakeOpenAi, type FakeOpenAi } from "@shiftwork/providers/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { openBench, type Bench } from "../testing/worker-under-test.ts";
import { settleAudits, settleAuditsEverywhere } from "./settle-audits.ts";

let bench: Bench;
let fake: FakeOpenAi;
let chat: TestChat;

beforeAll(async () => {
  bench = await openBench(inject("databaseUrl"), inject("redisUrl"));
  await bench.startWorker();
});

beforeEach(async () => {
  fake = await startFakeOpenAi({ script: { kind: "words", words: ["One ", "reply."], gated: true } });
  chat = await bench.chatWith(fake.baseUrl);
  return () => fake.close();
});

afterAll(() => bench.close());

const audits = () => withTenant(bench.api.db, chat.tenantId, (tx) => findChatAudit(tx, chat.tenantId, chat.chatId));

async function finishOne(): Promise<string> {
  const id = await insertTestGeneration(bench.api.db, chat);
  (await fake.received(0)).finish();
  await bench.ended(chat, id);
  return id;
}

/** The chat's finished audit is prepared again, and perhaps another generation's. */
function orphan(change: { readonly generation_id?: string } = {}) {
  return withTenant(bench.worker.db, chat.tenantId, (tx) =>
    tx
      .updateTable("prompt_context_audits")
      .set({ slot: "prepared", status: "prepared", finished_at: null, ...change })
      .where("tenant_id", "=", chat.tenantId)
      .where("chat_id", "=", chat.chatId)
      .execute(),
  );
}

const endedLongAgo = () =>
  withTenant(bench.worker.db, chat.tenantId, (tx) =>
    tx
      .updateTable("generations")
      .set({ finished_at: new Date(0) })
      .where("tenant_id", "=", chat.tenantId)
      .execute(),
  );

describe("a prepared audit", () => {
  it("of a generation that has ended ends as it did, at that time", async () => {
    const id = await finishOne();
    const { finished } = await audits();
    await orphan();
    expect(await audits()).toMatchObject({ finished: null, prepared: { generationId: id } });
    await settleAudits(bench.worker.db);
    expect(await audits()).toEqual({ finished, prepared: null });
    expect(finished).toMatchObject({ status: "completed" });
  });

  it("of a generation that is gone is removed", async () => {
    await finishOne();
    await orphan({ generation_id: newId() });
    await settleAudits(bench.worker.db);
    expect(await audits()).toEqual({ finished: null, prepared: null });
  });

  it("of a run under way stays", async () => {
    const id = await insertTestGeneration(bench.api.db, chat);
    const call = await fake.received(0);
    await settleAuditsEverywhere(bench.worker.db);
    expect(await audits()).toMatchObject({ finished: null, prepared: { generationId: id } });
    call.finish();
    await bench.ended(chat, id);
    expect(await audits()).toMatchObject({ finished: { generationId: id }, prepared: null });
  });

  it("of a tenant that has fallen silent is found by the pass over every tenant", async () => {
    await finishOne();
    await orphan();
    await endedLongAgo();
    await settleAudits(bench.worker.db);
    expect(await audits()).toMatchObject({ finished: null });
    await settleAuditsEverywhere(bench.worker.db);
    expect(await audits()).toMatchObject({
      finished: { status: "completed", finishedAt: new Date(0) },
      prepared: null,
    });
  });
});
