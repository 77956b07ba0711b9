import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openApi, type ApiUnderTest, type TestTenant } from "../../testing/api-under-test.ts";

let api: ApiUnderTest;
let tenant: TestTenant;
let character: string;
let chat: string;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"));
  tenant = await api.newTenant();
  character = (await call("POST", "/characters", { name: "Ada" })).body.id;
  chat = (await call("POST", "/chats", { characterId: character })).body.id;
});
afterAll(() => api.close());

const call = (method: "GET" | "POST" | "PATCH", path: string, body?: unknown, headers = {}) =>
  api.call(method, `/api/v2${path}`, { key: tenant.key, headers, ...(body === undefined ? {} : { body }) });
const places = () => ["/settings", `/characters/${character}/settings`, `/chats/${chat}/settings`];
const strategyInUse = async () => {
  const preview = await call("POST", "/context-preview", { chatId: chat, message: "Hi" });
  return preview.body["strategy"];
};

test("nothing is chosen at first, a change keeps what it leaves out, null takes back", async () => {
  for (const place of places()) {
    const before = await call("GET", place);
    expect(before.body).toMatchObject({ contextStrategy: null, strategyOptions: null, model: null, providerId: null });
    await call("PATCH", place, { model: "gpt-4o", providerId: tenant.providerId, strategyOptions: { lowWater: 0.7 } });
    const after = await call("PATCH", place, { model: null, reservedForReply: 300 });
    expect(after.body).toEqual({
      ...before.body,
      providerId: tenant.providerId,
      reservedForReply: 300,
      strategyOptions: { lowWater: 0.7 },
    });
    expect((await call("GET", place)).body).toEqual(after.body);
    await call("PATCH", place, { providerId: null, reservedForReply: null, strategyOptions: null });
    expect((await call("GET", place)).body).toEqual(before.body);
  }
});

test("the nearest level decides: request, chat, character, tenant", async () => {
  const [tenants = "", characters = "", chats = ""] = places();
  expect(await strategyInUse()).toBe("truncate");
  await call("PATCH", tenants, { contextStrategy: "summarize" });
  expect(await strategyInUse()).toBe("summarize");
  await call("PATCH", characters, { contextStrategy: "vector-recall" });
  expect(await strategyInUse()).toBe("vector-recall");
  await call("PATCH", chats, { contextStrategy: "manual" });
  expect(await strategyInUse()).toBe("manual");
  const sent = await call("POST", "/context-preview", { chatId: chat, message: "Hi", contextStrategy: "compress" });
  expect(sent.body["strategy"]).toBe("compress");
  for (const place of places()) await call("PATCH", place, { contextStrategy: null });
});

test("how long texts are kept is the tenant's to say", async () => {
  expect((await call("PATCH", "/settings", { contentRetentionDays: 30 })).body).toMatchObject({
    contentRetentionDays: 30,
  });
  expect((await call("PATCH", "/settings", { contentRetentionDays: 0 })).body["errors"]).toMatchObject([
    { pointer: "/contentRetentionDays", fix: "Send at least 1." },
  ]);
  expect((await call("PATCH", `/chats/${chat}/settings`, { contentRetentionDays: 30 })).status).toBe(400);
  await call("PATCH", "/settings", { contentRetentionDays: null });
});

test("a character's window and model hold for its chats", async () => {
  const [, characters = ""] = places();
  await call("PATCH", characters, { contextLimit: 4_000, model: "gpt-4" });
  const preview = await call("POST", "/context-preview", { chatId: chat, message: "Hi" });
  expect(preview.body).toMatchObject({ model: "gpt-4", budget: { contextLimit: 4_000 } });
  const generation = await call("POST", `/chats/${chat}/generations`, { message: "Hi" });
  expect(generation.body).toMatchObject({ model: "gpt-4" });
  await call("POST", `/generations/${generation.body.id}/cancel`, {});
  await call("PATCH", characters, { contextLimit: null, model: null });
});

test("a tag that is not the current one stops the change, the current one lets it through", async () => {
  for (const place of places()) {
    const read = await call("GET", place);
    const tag = String(read.headers["etag"]);
    const changed = await call("PATCH", place, { contextLimit: 2_000 }, { "if-match": tag });
    expect(changed.status).toBe(200);
    expect(changed.headers["etag"]).not.toBe(tag);
    const stale = await call("PATCH", place, { contextLimit: 3_000 }, { "if-match": tag });
    expect([stale.status, stale.body["code"]]).toEqual([412, "PRECONDITION_FAILED"]);
    const now = await call("GET", place);
    expect(now.body).toMatchObject({ contextLimit: 2_000 });
    expect(now.headers["etag"]).toBe(changed.headers["etag"]);
    await call("PATCH", place, { contextLimit: null });
  }
});

test("of two changes that saw the same tag one is stored", async () => {
  for (const place of places()) {
    const tag = String((await call("GET", place)).headers["etag"]);
    const answers = await Promise.all(
      [1_000, 1_001].map((contextLimit) => call("PATCH", place, { contextLimit }, { "if-match": tag })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 412]));
    await call("PATCH", place, { contextLimit: null });
  }
});

test("a strategy nobody knows, and options it does not take, are refused with their place", async () => {
  for (const place of places()) {
    const unknown = await call("PATCH", place, { contextStrategy: "magic" });
    expect(unknown).toMatchObject({ status: 422, body: { code: "STRATEGY_UNKNOWN" } });
    expect(unknown.body["errors"]).toMatchObject([{ pointer: "/contextStrategy" }]);
    const wrong = await call("PATCH", place, { contextStrategy: "compress", strategyOptions: { summaryTokens: 1 } });
    expect(wrong.body["errors"]).toMatchObject([{ pointer: "/strategyOptions/summaryTokens" }]);
    expect((await call("GET", place)).body).toMatchObject({ contextStrategy: null, strategyOptions: null });
  }
});

test("options without a strategy are checked against the one that stands below", async () => {
  const [tenants = "", , chats = ""] = places();
  await call("PATCH", tenants, { contextStrategy: "compress" });
  const wrong = await call("PATCH", chats, { strategyOptions: { summaryTokens: 1 } });
  expect(wrong.body["errors"]).toMatchObject([{ pointer: "/strategyOptions/summaryTokens" }]);
  await call("PATCH", tenants, { contextStrategy: null });
  expect((await call("PATCH", chats, { strategyOptions: { summaryTokens: 1 } })).status).toBe(200);
  await call("PATCH", chats, { strategyOptions: null });
});

test("main prompt and what stands behind the history are the tenant's", async () => {
  await call("PATCH", "/settings", { mainPrompt: "Speak in verse.", postHistoryInstructions: "Rhyme." });
  const include = ["content"];
  const preview = await call("POST", "/context-preview", { chatId: chat, message: "Hi", include });
  const texts = (preview.body["blocks"] as { content?: string }[]).map(({ content }) => content);
  expect(texts).toEqual(expect.arrayContaining(["Speak in verse.", "Rhyme."]));
  const [, characters = ""] = places();
  const refused = await call("PATCH", characters, { mainPrompt: "x" });
  expect(refused.body["errors"]).toMatchObject([{ pointer: "/mainPrompt", code: "unknown_field" }]);
});

test("a new chat's settings take options too, and a problem points below /settings", async () => {
  const settings = { contextStrategy: "summarize", strategyOptions: { summaryTokens: 64 } };
  expect((await call("POST", "/chats", { settings })).body["settings"]).toEqual(settings);
  const wrong = await call("POST", "/chats", { settings: { ...settings, strategyOptions: { summaryTokens: -1 } } });
  expect(wrong.body["errors"]).toMatchObject([{ pointer: "/settings/strategyOptions/summaryTokens" }]);
});

test("whose vectors a chat recalls by is chosen at each level, and checked", async () => {
  const { providerId } = tenant;
  const remote = { provider: "openai-compatible", providerId, model: "vectors-1", dims: 512, questionWaitMs: 300 };
  for (const place of places()) {
    expect((await call("GET", place)).body["recall"]).toBeNull();
    const local = { provider: "use-lite" };
    expect((await call("PATCH", place, { recall: local })).body["recall"]).toEqual(local);
    // The tests' own provider is of kind echo, which has no vectors.
    const refused = await call("PATCH", place, { recall: remote });
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ pointer: "/recall/providerId" }] } });
    const foreign = `prov_${"0".repeat(32)}`;
    expect((await call("PATCH", place, { recall: { ...remote, providerId: foreign } })).status).toBe(404);
    const wrong = [
      { provider: "magic" },
      { ...remote, dims: 0 },
      { ...remote, questionWaitMs: 60_000 },
      { ...local, dims: 3 },
    ];
    for (const recall of wrong) expect((await call("PATCH", place, { recall })).status).toBe(400);
    expect((await call("PATCH", place, { recall: null })).body["recall"]).toBeNull();
  }
});
