import { encodeId } from "@shiftwork/contracts";
import { deleteChat, findChatLocked, insertBulkAction, newId, withTenant, type Tx } from "@shiftwork/db";
import { insertAnotherChat, type TestChat } from "@shiftwork/db/testing";
import { afterAll, beforeAll, beforeEach, expect, inject, it } from "vitest";
import { openBench, type Bench } from "../testing/worker-under-test.ts";
import { clearBulkActions } from "./clear-bulk-actions.ts";

let bench: Bench;
let chat: TestChat;

beforeAll(async () => {
  bench = await openBench(inject("databaseUrl"), inject("redisUrl"));
});
beforeEach(async () => {
  chat = await bench.chatWith("http://127.0.0.1:1");
});
afterAll(() => bench.close());

const DAY_MS = 86_400_000;
const asApi = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => withTenant(bench.api.db, chat.tenantId, work);

/** One for the chat, as it stands so many days after it ended; `null` = it has not. */
async function bulkAction(endedDaysAgo: number | null): Promise<string> {
  const id = newId();
  await asApi(async (tx) => {
    await insertBulkAction(tx, chat.tenantId, {
      id,
      ownerId: null,
      apiKeyId: newId(),
      requestId: "req",
      action: "cancel",
      target: { filter: { chatId: encodeId("chat", chat.chatId), model: "m" } },
      note: null,
      total: { count: 0, capped: false },
    });
    if (endedDaysAgo === null) return;
    await tx
      .updateTable("bulk_actions")
      .set({ status: "completed", finished_at: new Date(Date.now() - endedDaysAgo * DAY_MS) })
      .where("id", "=", id)
      .execute();
  });
  return id;
}

const left = () =>
  asApi((tx) =>
    tx
      .selectFrom("bulk_actions")
      .select(["id", "target"])
      .where("tenant_id", "=", chat.tenantId)
      .orderBy("id")
      .execute(),
  );

const removeChat = () =>
  asApi(async (tx) => {
    await findChatLocked(tx, chat.tenantId, chat.chatId, null);
    await deleteChat(tx, chat.tenantId, { id: chat.chatId, publicId: encodeId("chat", chat.chatId) });
  });

it("a bulk action is kept for its time after it ended, an unfinished one for ever", async () => {
  await bulkAction(31);
  const kept = [await bulkAction(29), await bulkAction(null)];
  await clearBulkActions(bench.worker.db, 30 * DAY_MS);
  expect((await left()).map(({ id }) => id)).toEqual(kept);
});

it("one that ended forgets its chat with it, and what another chat was named for stays", async () => {
  const id = await bulkAction(1);
  const target = { filter: { chatId: encodeId("chat", chat.chatId), model: "m" } };
  chat = await insertAnotherChat(bench.api.db, chat);
  await bulkAction(1);
  await removeChat();
  expect(await left()).toMatchObject([{ id, target }, { target: {} }]);
  expect(Object.keys((await left())[1]?.target ?? {})).toEqual([]);
});

it("one that was under way keeps its filter, which finds nothing now, and forgets the chat once it has ended", async () => {
  const id = await bulkAction(null);
  await removeChat();
  await clearBulkActions(bench.worker.db, 30 * DAY_MS);
  expect(await left()).toMatchObject([{ target: { filter: { chatId: encodeId("chat", chat.chatId) } } }]);
  await asApi((tx) =>
    tx.updateTable("bulk_actions").set({ status: "aborted", finished_at: new Date() }).where("id", "=", id).execute(),
  );
  await clearBulkActions(bench.worker.db, 30 * DAY_MS);
  expect(await left()).toEqual([{ id, target: {} }]);
});
