import { randomBytes } from "node:crypto";
import {
  deleteOldContent,
  findChatAudit,
  findGeneration,
  findGenerationContents,
  withTenant,
  writeTenantSettings,
} from "@shiftwork/db";
import { insertTestGeneration, type TestChat } from "@shiftwork/db/testing";
import { startFakeOpenAi } from "@shiftwork/providers/testing";
import { afterAll, beforeAll, expect, inject, it, onTestFinished } from "vitest";
import { openBench, type Bench } from "../testing/worker-under-test.ts";
import { clearContent } from "./clear-content.ts";

let bench: Bench;

beforeAll(async () => {
  bench = await openBench(inject("databaseUrl"), inject("redisUrl"));
  await bench.startWorker();
});
afterAll(() => bench.close());

const DAY_MS = 86_400_000;

/** A UUIDv7 of that time. */
function idAt(time: Date): string {
  const digits = `${time.getTime().toString(16).padStart(12, "0")}70008${randomBytes(8).toString("hex").slice(1)}`;
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** A chat whose one turn was accepted and answered so many days ago, of a tenant that keeps texts for `keptDays`. */
async function answered(daysAgo: number, keptDays: number | null): Promise<{ chat: TestChat; id: string }> {
  const fake = await startFakeOpenAi();
  onTestFinished(() => fake.close());
  const chat = await bench.chatWith(fake.baseUrl);
  const settings = keptDays === null ? {} : { contentRetentionDays: keptDays };
  await withTenant(bench.admin.db, chat.tenantId, (tx) => writeTenantSettings(tx, chat.tenantId, settings));
  return { chat, id: await answeredIn(chat, daysAgo) };
}

/** One more turn of the chat, of that time. */
async function answeredIn(chat: TestChat, daysAgo: number): Promise<string> {
  const then = new Date(Date.now() - daysAgo * DAY_MS);
  const id = await insertTestGeneration(bench.api.db, chat, 60_000, { id: idAt(then) });
  await bench.ended(chat, id);
  await withTenant(bench.worker.db, chat.tenantId, (tx) =>
    tx.updateTable("generations").set({ finished_at: then }).where("id", "=", id).execute(),
  );
  return id;
}

const left = ({ chat: { tenantId, chatId }, id }: { chat: TestChat; id: string }) =>
  withTenant(bench.worker.db, tenantId, async (tx) => ({
    audit: (await findChatAudit(tx, tenantId, chatId)).finished !== null,
    request: (await findGenerationContents(tx, tenantId, id)) !== null,
  }));

it("texts of generations that ended before the tenant's time are gone, younger ones and other tenants' stay", async () => {
  const [old, young, another] = [await answered(8, 7), await answered(6, 7), await answered(400, null)];
  await clearContent(bench.worker.db);
  expect(await left(old)).toEqual({ audit: false, request: false });
  for (const kept of [young, another]) expect(await left(kept)).toEqual({ audit: true, request: true });
});

it("more than fits into one transaction goes in several", async () => {
  const first = await answered(9, 7);
  const ids = [first.id];
  for (const daysAgo of [8, 8.5]) ids.push(await answeredIn(first.chat, daysAgo));
  const { tenantId } = first.chat;
  const clearOnce = () => withTenant(bench.worker.db, tenantId, (tx) => deleteOldContent(tx, tenantId, 7 * DAY_MS, 2));
  const requests = async () =>
    (await Promise.all(ids.map((id) => left({ chat: first.chat, id })))).filter((each) => each.request);
  expect([await clearOnce(), (await requests()).length]).toEqual([true, 1]);
  expect([await clearOnce(), (await requests()).length]).toEqual([false, 0]);
  for (const daysAgo of [8, 8.5, 9]) ids.push(await answeredIn(first.chat, daysAgo));
  await clearContent(bench.worker.db, 1);
  expect(await requests()).toEqual([]);
});

it("the generation keeps its numbers", async () => {
  const { chat, id } = await answered(8, 7);
  await clearContent(bench.worker.db);
  const row = await withTenant(bench.api.db, chat.tenantId, (tx) => findGeneration(tx, chat.tenantId, id));
  expect(row).toMatchObject({ status: "completed", inputTokens: 10, context: { promptTokens: expect.any(Number) } });
});

it("one accepted before that time and still running keeps what it needs", async () => {
  const { chat, id } = await answered(8, 7);
  await withTenant(bench.worker.db, chat.tenantId, (tx) =>
    tx.updateTable("generations").set({ finished_at: null }).where("id", "=", id).execute(),
  );
  await clearContent(bench.worker.db);
  expect(await left({ chat, id })).toMatchObject({ request: true });
});
