import { uuidv7 } from "uuidv7";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { openDatabase, type Database } from "../client.ts";
import { insertTestChat, insertTestGeneration, openTestDatabase, type TestDatabase } from "../testing/index.ts";
import { withTenant } from "../transaction.ts";
import { lockChat } from "./chat-revision.ts";
import { deleteChat } from "./chats.ts";
import { appendEventsFenced } from "./generation-events.ts";
import { claimGeneration } from "./generation-lifecycle.ts";

let test: TestDatabase;
let admin: Database;
let api: Database;
let worker: Database;

beforeAll(async () => {
  test = await openTestDatabase(inject("databaseUrl"));
  const open = (role: "shiftwork_admin" | "shiftwork_api" | "shiftwork_worker") =>
    openDatabase({ url: test.url, role, maxConnections: 3, applicationName: "chats-test" });
  [admin, api, worker] = [open("shiftwork_admin"), open("shiftwork_api"), open("shiftwork_worker")];
});

afterAll(async () => {
  await Promise.all([admin.close(), api.close(), worker.close()]);
  await test.drop();
});

it("a chat that is deleted while its reply streams leaves no event behind", async () => {
  const { tenantId, chatId, ...chat } = await insertTestChat(admin.db, api.db);
  const generationId = await insertTestGeneration(api.db, { tenantId, chatId, ...chat });
  const job = { tenantId, generationId, epoch: 0 };
  const claim = await withTenant(worker.db, tenantId, (tx) => claimGeneration(tx, job, uuidv7()));
  const written = gate();
  const committing = gate();
  const events = [{ type: "message.delta", data: { delta: "secret", index: 0 } }] as const;
  const writing = withTenant(worker.db, tenantId, async (tx) => {
    await appendEventsFenced(tx, {
      tenantId,
      generationId,
      fence: claim?.fence ?? 0,
      afterSeq: claim?.lastSeq ?? 0,
      events,
    });
    written.resolve();
    await committing.promise;
  });
  await written.promise;
  const deleting = withTenant(api.db, tenantId, async (tx) => {
    await lockChat(tx, tenantId, chatId);
    await deleteChat(tx, tenantId, { id: chatId, publicId: "chat_x" });
  });
  await Promise.race([deleting, untilSomebodyWaits()]);
  committing.resolve();
  await Promise.all([writing, deleting]);
  const left = await withTenant(api.db, tenantId, (tx) => tx.selectFrom("generation_events").select("type").execute());
  expect(left).toEqual([]);
});

async function untilSomebodyWaits(): Promise<void> {
  await expect.poll(() => waitingForALock(), { timeout: 10_000 }).toBeGreaterThan(0);
}

/** Other roles' waits are shown to a superuser only. */
async function waitingForALock(): Promise<number> {
  return admin.client.begin(async (tx) => {
    await tx`set local role none`;
    const rows = await tx`
      select from pg_stat_activity
      where datname = current_database() and application_name = 'chats-test' and wait_event_type = 'Lock'
    `;
    return rows.length;
  });
}

function gate(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((open) => (resolve = open));
  return { promise, resolve: () => resolve() };
}
