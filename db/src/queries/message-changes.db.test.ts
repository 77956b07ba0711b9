import { uuidv7 } from "uuidv7";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { openDatabase, type Database } from "../client.ts";
import {
  insertTestChat,
  insertTestGeneration,
  insertTestMessage,
  openTestDatabase,
  type TestChat,
  type TestDatabase,
} from "../testing/index.ts";
import { withTenant, type Tx } from "../transaction.ts";
import { loadAssemblyInput } from "./generation-inputs.ts";
import { deleteMessage, updateMessage } from "./message-changes.ts";
import { findMessage, type MessageRow } from "./messages.ts";

let test: TestDatabase;
let admin: Database;
let api: Database;

beforeAll(async () => {
  test = await openTestDatabase(inject("databaseUrl"));
  const open = (role: "shiftwork_admin" | "shiftwork_api") =>
    openDatabase({ url: test.url, role, maxConnections: 3, applicationName: "message-changes-test" });
  [admin, api] = [open("shiftwork_admin"), open("shiftwork_api")];
});

afterAll(async () => {
  await Promise.all([admin.close(), api.close()]);
  await test.drop();
});

/** A chat whose last completed turn cut its history at the returned message. */
async function anchoredChat(): Promise<{ chat: TestChat; anchor: MessageRow }> {
  const chat = await insertTestChat(admin.db, api.db);
  const id = uuidv7();
  const generationId = await insertTestGeneration(api.db, chat);
  const anchor = await withTenant(api.db, chat.tenantId, async (tx) => {
    await insertTestMessage(tx, chat, { id, seq: 2, role: "assistant", content: "Hello." });
    await tx
      .updateTable("generations")
      .set({ status: "completed", anchor_message_id: id, output_message_id: id })
      .where("tenant_id", "=", chat.tenantId)
      .where("id", "=", generationId)
      .execute();
    return findMessage(tx, chat.tenantId, chat.chatId, id);
  });
  if (!anchor) throw new Error("the message was not stored");
  return { chat, anchor };
}

const anchorAfter = (chat: TestChat, change: (tx: Tx) => Promise<void>) =>
  withTenant(api.db, chat.tenantId, async (tx) => {
    await change(tx);
    const query = { chatId: chat.chatId, inputMessageId: null, draft: null, window: null };
    const stored = await loadAssemblyInput(tx, chat.tenantId, { ...query, personaId: null, lorebookIds: null });
    return stored?.anchorId;
  });

it("a mark leaves the history's cut where it is, an edit of the message it was cut at takes it back", async () => {
  const { chat, anchor } = await anchoredChat();
  const write = (change: Partial<MessageRow>) => (tx: Tx) =>
    updateMessage(tx, chat.tenantId, anchor, { ...anchor, ...change });
  expect(await anchorAfter(chat, write({ pinned: true }))).toBe(anchor.id);
  expect(await anchorAfter(chat, write({ content: "Goodbye." }))).toBeNull();
});

it("deleting the message it was cut at takes the cut back, deleting another one does not", async () => {
  const { chat, anchor } = await anchoredChat();
  const other = { id: chat.inputMessageId, chatId: chat.chatId, branch: 0, seq: 1, active: true };
  expect(await anchorAfter(chat, (tx) => deleteMessage(tx, chat.tenantId, other))).toBe(anchor.id);
  expect(await anchorAfter(chat, (tx) => deleteMessage(tx, chat.tenantId, anchor))).toBeNull();
});
