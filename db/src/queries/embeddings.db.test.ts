import { sql } from "kysely";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openDatabase, type Database } from "../client.ts";
import {
  insertAnotherChat,
  insertTestChat,
  openTestDatabase,
  type TestChat,
  type TestDatabase,
} from "../testing/index.ts";
import { withTenant, type Tx } from "../transaction.ts";
import {
  findDueEmbeddingRequests,
  postponeEmbeddingRequest,
  requestEmbeddings,
  settleEmbeddingRequest,
} from "./embedding-requests.ts";
import { deleteUnusedVectors, findKeysWithoutVector, findVectors, insertVectors, touchVectors } from "./embeddings.ts";

let database: TestDatabase;
let admin: Database;
let worker: Database;
let owner: Database;
let chat: TestChat;

beforeAll(async () => {
  database = await openTestDatabase(inject("databaseUrl"));
  const open = (role: "shiftwork_admin" | "shiftwork_worker" | "shiftwork_owner") =>
    openDatabase({ url: database.url, role, maxConnections: 2, applicationName: "test" });
  [admin, worker, owner] = [open("shiftwork_admin"), open("shiftwork_worker"), open("shiftwork_owner")];
  chat = await insertTestChat(admin.db, worker.db);
});
afterAll(async () => {
  for (const each of [admin, worker, owner]) await each.close();
  await database.drop();
});

const key = (first: number): Uint8Array => Buffer.alloc(32, first);
const of = <T>({ tenantId }: Pick<TestChat, "tenantId">, work: (tx: Tx, tenantId: string) => Promise<T>): Promise<T> =>
  withTenant(worker.db, tenantId, (tx) => work(tx, tenantId));
const due = () => findDueEmbeddingRequests(worker.db, { limit: 10, limitPerTenant: 2, busyAtMostMs: 0 });

test("a vector is found under its key by its tenant alone, and stored once", async () => {
  const [mine, theirs] = [chat, await insertTestChat(admin.db, worker.db)];
  const rows = [1, 2].map((first) => ({ key: key(first), vector: Buffer.of(first, 0, 0, 0) }));
  await of(mine, (tx, tenantId) => insertVectors(tx, tenantId, rows));
  await of(mine, (tx, tenantId) => insertVectors(tx, tenantId, [{ key: key(1), vector: Buffer.of(9) }]));
  const keys = [key(1), key(3)];
  expect(await of(mine, (tx, tenantId) => findVectors(tx, tenantId, keys))).toEqual([rows[0]]);
  expect(await of(mine, (tx, tenantId) => findKeysWithoutVector(tx, tenantId, keys))).toEqual([key(3)]);
  expect(await of(theirs, (tx, tenantId) => findVectors(tx, tenantId, keys))).toEqual([]);
  expect(await of(theirs, (tx) => findVectors(tx, mine.tenantId, keys))).toEqual([]);
});

test("any number of keys is the same statement: the server keeps each that it has prepared", async () => {
  const prepared = await of(chat, async (tx, tenantId) => {
    for (const count of [1, 2, 3]) {
      const rows = Array.from({ length: count }, (_, at) => ({ key: key(40 + at), vector: Buffer.of(count) }));
      const keys = rows.map((row) => row.key);
      await insertVectors(tx, tenantId, rows);
      await touchVectors(tx, tenantId, keys);
      expect(await findVectors(tx, tenantId, keys)).toHaveLength(count);
      expect(await findKeysWithoutVector(tx, tenantId, keys)).toEqual([]);
    }
    const { rows } = await sql<{ statement: string }>`
      select statement from pg_prepared_statements where statement ~ 'embeddings.*key' and statement !~ 'pg_prepared'
    `.execute(tx);
    return rows;
  });
  expect(prepared).toHaveLength(4);
});

test("more keys than a statement takes parameters are found", async () => {
  const keys = Array.from({ length: 70_000 }, (_, index) => Buffer.from(String(index).padStart(32, "k")));
  await of(chat, async (tx, tenantId) => {
    await insertVectors(tx, tenantId, [{ key: keys[69_999] ?? key(0), vector: Buffer.of(7) }]);
    await touchVectors(tx, tenantId, keys);
    expect((await findVectors(tx, tenantId, keys)).map(({ vector }) => [...vector])).toEqual([[7]]);
    expect((await findKeysWithoutVector(tx, tenantId, keys)).length).toBe(69_999);
  });
});

test("what nobody has used for long is deleted; use keeps it", async () => {
  const rows = [11, 12].map((first) => ({ key: key(first), vector: Buffer.of(1) }));
  await of(chat, async (tx, tenantId) => {
    await insertVectors(tx, tenantId, rows);
    await tx
      .updateTable("embeddings")
      .set({ used_on: sql<string>`current_date - 40` })
      .where("tenant_id", "=", tenantId)
      .where("key", "in", [key(11), key(12)])
      .execute();
    await touchVectors(tx, tenantId, [key(12)]);
    await deleteUnusedVectors(tx, tenantId, 30);
  });
  const left = await of(chat, (tx, tenantId) => findKeysWithoutVector(tx, tenantId, [key(11), key(12)]));
  expect(left).toEqual([key(11)]);
});

test("a chat asked for again while it was worked on stays, with lore once that was asked for", async () => {
  const own = await insertTestChat(admin.db, worker.db);
  const ask = (withLore: boolean) =>
    of(own, (tx, tenantId) => requestEmbeddings(tx, tenantId, { chatId: own.chatId, withLore }));
  await ask(true);
  const seen = (await due()).find(({ tenantId }) => tenantId === own.tenantId);
  if (!seen) throw new Error("the request is not due");
  await ask(false);
  await of(own, (tx) => settleEmbeddingRequest(tx, seen));
  const again = (await due()).find(({ tenantId }) => tenantId === own.tenantId);
  expect(again).toEqual({ ...seen, asks: 2 });
  await of(own, (tx) => settleEmbeddingRequest(tx, { ...seen, asks: 2 }));
  expect((await due()).filter(({ tenantId }) => tenantId === own.tenantId)).toEqual([]);
});

test("no tenant fills a pass, and one that failed waits", async () => {
  const own = await insertTestChat(admin.db, worker.db);
  const chats = [own, await insertAnotherChat(worker.db, own), await insertAnotherChat(worker.db, own)];
  for (const { chatId } of chats)
    await of(own, (tx, tenantId) => requestEmbeddings(tx, tenantId, { chatId, withLore: false }));
  const ofOwn = async () => (await due()).filter(({ tenantId }) => tenantId === own.tenantId);
  const first = await ofOwn();
  expect(first.length).toBe(2);
  for (const request of first) await of(own, (tx) => postponeEmbeddingRequest(tx, request, 60_000));
  expect((await ofOwn()).map(({ chatId }) => chatId)).toEqual(
    chats.map(({ chatId }) => chatId).filter((id) => !first.some(({ chatId }) => chatId === id)),
  );
});

test("with a chat its request goes, with a tenant its vectors", async () => {
  const own = await insertTestChat(admin.db, worker.db);
  await of(own, async (tx, tenantId) => {
    await insertVectors(tx, tenantId, [{ key: key(1), vector: Buffer.of(1) }]);
    await requestEmbeddings(tx, tenantId, { chatId: own.chatId, withLore: false });
    await tx.deleteFrom("chats").where("tenant_id", "=", tenantId).where("id", "=", own.chatId).execute();
    await requestEmbeddings(tx, tenantId, { chatId: own.chatId, withLore: false });
  });
  expect((await due()).map(({ tenantId }) => tenantId)).not.toContain(own.tenantId);
  await withTenant(admin.db, own.tenantId, (tx) => tx.deleteFrom("tenants").where("id", "=", own.tenantId).execute());
  expect(await of(own, (tx, tenantId) => findVectors(tx, tenantId, [key(1)]))).toEqual([]);
});
