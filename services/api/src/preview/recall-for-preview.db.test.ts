import { encodeId, type RecallSetting } from "@shiftwork/contracts";
import { insertProvider, insertVectors, newId, withTenant } from "@shiftwork/db";
import { embeddingKey, toStored } from "@shiftwork/providers";
import { startFakeOpenAi, type FakeOpenAi } from "@shiftwork/providers/testing";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openApi, type ApiUnderTest, type TestTenant } from "../testing/api-under-test.ts";
import { countRows } from "../testing/count-rows.ts";

const ALLERGY = "Walnuts make him ill.";
const QUESTION = "Is there anything he must not eat?";

let api: ApiUnderTest;
let tenant: TestTenant;
let fake: FakeOpenAi;
let chat: string;
let recall: Extract<RecallSetting, { readonly provider: "openai-compatible" }>;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"));
  tenant = await api.newTenant();
  fake = await startFakeOpenAi();
  const id = newId();
  await withTenant(api.admin.db, tenant.id, (tx) =>
    insertProvider(tx, tenant.id, {
      id,
      name: "vectors",
      kind: "openai-compatible",
      baseUrl: fake.baseUrl,
      secret: null,
      allowPrivateNetwork: true,
      models: [],
    }),
  );
  recall = { provider: "openai-compatible", providerId: encodeId("provider", id), model: "vectors-1", dims: 2 };
  await call("PATCH", "/settings", { providerId: tenant.providerId, model: "gpt-4o" });
  chat = (await call("POST", "/chats", {})).body.id;
  await call("POST", "/memories", { chatId: chat, content: ALLERGY });
});
afterAll(async () => {
  await fake.close();
  await api.close();
});

const call = (method: "POST" | "PATCH", path: string, body: unknown) =>
  api.call(method, `/api/v2${path}`, { key: tenant.key, body });
const choose = (setting: RecallSetting | null) => call("PATCH", "/settings", { recall: setting });

async function preview() {
  const { status, body } = await call("POST", "/context-preview", { chatId: chat, message: QUESTION });
  expect(status).toBe(200);
  const blocks = body["blocks"] as { readonly source: string; readonly [field: string]: unknown }[];
  const diagnostics = body["diagnostics"] as { readonly code: string; readonly detail: object }[];
  return {
    memory: blocks.find(({ source }) => source === "memory"),
    missing: diagnostics.filter(({ code }) => code === "vectors_missing").map(({ detail }) => detail),
    hash: (body["assembly"] as { readonly hash: string }).hash,
  };
}

test("a preview goes by stored vectors alone: it asks nobody, stores nothing and asks for nothing", async () => {
  await choose({ ...recall, questionWaitMs: 2_000 });
  const before = await countRows(api.admin);
  const { memory, missing } = await preview();
  expect(memory).toMatchObject({ included: false, reason: "memory_below_threshold" });
  expect(missing).toEqual([{ provider: `${recall.providerId}/vectors-1`, question: 1, candidates: 1 }]);
  expect(await countRows(api.admin)).toEqual(before);
  expect(fake.requests).toEqual([]);
});

test("what is stored is used, and the hash follows it", async () => {
  await choose(recall);
  const { hash } = await preview();
  const embedder = { id: `${recall.providerId}/vectors-1`, version: fake.baseUrl, dims: 2 };
  const rows = [QUESTION, ALLERGY].map((text) => ({
    key: embeddingKey(embedder, text),
    vector: toStored(Float32Array.of(1, 0)),
  }));
  await withTenant(api.worker.db, tenant.id, (tx) => insertVectors(tx, tenant.id, rows));
  const after = await preview();
  expect(after.memory).toMatchObject({ included: true, reasonDetail: { words: null, meaning: { score: 1, rank: 1 } } });
  expect(after.missing).toEqual([]);
  expect(after.hash).not.toBe(hash);
  expect((await preview()).hash).toBe(after.hash);
});

test("without a choice the built-in vectors are used, of which none is ever missing", async () => {
  await choose(null);
  const { memory, missing } = await preview();
  expect(memory).toMatchObject({ reasonDetail: { rank: 1 } });
  expect(missing).toEqual([]);
});

test("the vectors of a character's choice stand before the tenant's", async () => {
  await choose(recall);
  const character = (await call("POST", "/characters", { name: "Ada" })).body.id;
  await call("PATCH", `/characters/${character}/settings`, { recall: { provider: "hash-ngram-1024" } });
  const own = (await call("POST", "/chats", { characterId: character })).body.id;
  await call("POST", "/memories", { chatId: own, content: "Something else." });
  const { body } = await call("POST", "/context-preview", { chatId: own, message: QUESTION });
  expect(body["diagnostics"]).toEqual([]);
});
