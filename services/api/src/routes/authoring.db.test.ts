import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openApi, type ApiUnderTest, type CallAnswer, type TestTenant } from "../testing/api-under-test.ts";

let api: ApiUnderTest;
let tenant: TestTenant;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"));
  tenant = await api.newTenant();
});
afterAll(() => api.close());

const get = (path: string) => api.call("GET", `/api/v2${path}`, { key: tenant.key });
const post = (path: string, body: unknown, headers = {}) =>
  api.call("POST", `/api/v2${path}`, { key: tenant.key, body, headers });
const itemsOf = (answer: CallAnswer) => answer.body["items"] as { id: string; [key: string]: unknown }[];
const cursorOf = (answer: CallAnswer) => answer.body["nextCursor"] as string | null;

test("what was created is read back, at the place Location names", async () => {
  const made = await post("/characters", { name: "Ada", personality: "curious", tags: ["x"] });
  expect(made).toMatchObject({ status: 201, body: { name: "Ada", personality: "curious", scenario: "" } });
  const read = await api.call("GET", String(made.headers["location"]), { key: tenant.key });
  expect(read.body).toEqual(made.body);
});

test("a list is paged without gaps or repeats, and its cursor belongs to it", async () => {
  const names = ["1", "2", "3", "4", "5"];
  for (const name of names) await post("/personas", { name });
  const seen: unknown[] = [];
  let cursor = "";
  do {
    const page = await get(`/personas?limit=2${cursor}`);
    seen.push(...itemsOf(page).map((persona) => persona["name"]));
    cursor = cursorOf(page) === null ? "" : `&cursor=${cursorOf(page)}`;
    expect(page.headers["link"] === undefined).toBe(cursor === "");
  } while (cursor !== "");
  expect(seen).toEqual(names.toReversed());
  const first = await get("/personas?limit=1");
  const stolen = await get(`/characters?limit=1&cursor=${cursorOf(first)}`);
  expect(stolen).toMatchObject({ status: 400, body: { code: "INVALID_CURSOR" } });
  expect(await get("/personas?cursor=bm9uc2Vuc2U")).toMatchObject({ body: { code: "INVALID_CURSOR" } });
});

test("entries of a lorebook are numbered one after the other", async () => {
  const book = await post("/lorebooks", { name: "W", entries: [{ content: "a" }], bindings: [{ global: true }] });
  expect(book.body).toMatchObject({ entryCount: 1, bindings: [{ global: true }] });
  await Promise.all([1, 2, 3].map((n) => post(`/lorebooks/${book.body.id}/entries`, { content: `c${n}` })));
  const entries = itemsOf(await get(`/lorebooks/${book.body.id}/entries`));
  expect(entries.map((entry) => entry["uid"])).toEqual([0, 1, 2, 3]);
});

test("a chat opens with its character's greeting, macros resolved, alternates beside it", async () => {
  const character = await post("/characters", {
    name: "Ada",
    firstMessage: "I am {{char}}, {{user}}.",
    alternateGreetings: ["Hm, {{user}}?"],
  });
  const persona = await post("/personas", { name: "Grace" });
  const chat = await post("/chats", { characterId: character.body.id, personaId: persona.body.id });
  const shown = itemsOf(await get(`/chats/${chat.body.id}/messages`));
  expect(shown).toMatchObject([{ role: "assistant", name: "Ada", content: "I am Ada, Grace.", seq: 1, active: true }]);
  const all = itemsOf(await get(`/chats/${chat.body.id}/messages?variants=all`));
  expect(all.map((message) => message["content"])).toEqual(["I am Ada, Grace.", "Hm, Grace?"]);
  expect(chat.body["revision"]).toBe(1);
});

test("a chat without greeting is empty", async () => {
  const character = await post("/characters", { name: "Ada", firstMessage: "Hi" });
  const chat = await post("/chats", { characterId: character.body.id, greeting: false });
  expect(itemsOf(await get(`/chats/${chat.body.id}/messages`))).toEqual([]);
});

test("a chat refuses a strategy nobody has, by the field's name", async () => {
  const answer = await post("/chats", { settings: { contextStrategy: "magic" } });
  expect(answer).toMatchObject({ status: 422, body: { code: "STRATEGY_UNKNOWN" } });
  expect(answer.body["errors"]).toMatchObject([{ pointer: "/settings/contextStrategy" }]);
});

test("messages take the next place, however many come at once", async () => {
  const chat = (await post("/chats", {})).body.id;
  await Promise.all(Array.from({ length: 6 }, (_, n) => post(`/chats/${chat}/messages`, { content: `m${n}` })));
  const first = await get(`/chats/${chat}/messages?limit=4`);
  const second = await get(`/chats/${chat}/messages?limit=4&cursor=${cursorOf(first)}`);
  expect([first, second].flatMap(itemsOf).map((message) => message["seq"])).toEqual([1, 2, 3, 4, 5, 6]);
  expect((await get(`/chats/${chat}`)).body["revision"]).toBe(6);
});

test("a memory belongs to exactly one chat or character", async () => {
  const answer = await post("/memories", { content: "x" });
  expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: "/chatId" }] } });
});

test.each([
  ["a missing field", {}, "/name", "required"],
  ["a wrong type", { name: 1 }, "/name", "invalid_type"],
  ["a field in a list", { name: "x", tags: ["a", 2] }, "/tags/1", "invalid_type"],
  ["text no database stores", { name: "a\0b" }, "/name", "unstorable_text"],
  ["half a surrogate pair", { name: "x", creator: "\ud800" }, "/creator", "unstorable_text"],
])("%s is named by its pointer", async (_case, body, pointer, code) => {
  expect(await post("/characters", body)).toMatchObject({ status: 400, body: { errors: [{ pointer, code }] } });
});

test("a body that is no JSON, too large, or of another type is refused", async () => {
  const json = { "content-type": "application/json" };
  expect(await post("/personas", "{", json)).toMatchObject({ status: 400, body: { code: "INVALID_JSON" } });
  const large = JSON.stringify({ name: "x", description: "y".repeat(1024 * 1024) });
  expect(await post("/personas", large, json)).toMatchObject({ status: 413, body: { code: "PAYLOAD_TOO_LARGE" } });
  const xml = await post("/personas", "<x/>", { "content-type": "text/xml" });
  expect(xml).toMatchObject({ status: 415, body: { code: "UNSUPPORTED_MEDIA_TYPE" } });
  const deep = `${'{"a":'.repeat(100)}1${"}".repeat(100)}`;
  expect(await post("/chats", `{"metadata":${deep}}`, json)).toMatchObject({
    body: { errors: [{ code: "too_deep" }] },
  });
});

test("metadata comes back as it was sent", async () => {
  const metadata = { a: { b: [1, "two", null] }, ключ: "значение" };
  const chat = await post("/chats", { metadata });
  expect((await get(`/chats/${chat.body.id}`)).body["metadata"]).toEqual(metadata);
});

test("request ids are echoed when they are safe to log, and traces continued", async () => {
  const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const headers = { "x-request-id": "mine-1", traceparent: `00-${trace}-00f067aa0ba902b7-01` };
  const answer = await api.call("GET", "/api/v2/chats/chat_x", { key: tenant.key, headers });
  expect(answer.body).toMatchObject({ requestId: "mine-1", traceId: trace });
  const unsafe = await api.call("GET", "/api/v2/chats", { key: tenant.key, headers: { "x-request-id": "a b" } });
  expect(unsafe.headers["x-request-id"]).toMatch(/^req_[0-9a-f]{32}$/);
});

test("a body of junk is answered with at most 100 of its faults", async () => {
  const junk = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`field${n}`, n]));
  const answer = await post("/chats", junk);
  expect(answer).toMatchObject({ status: 400, body: { code: "VALIDATION_FAILED" } });
  expect(answer.body["errors"]).toHaveLength(100);
});

test("a body that is not JSON is refused by its media type", async () => {
  const answer = await post("/chats", "{}", { "content-type": "text/plain" });
  expect(answer).toMatchObject({ status: 415, body: { code: "UNSUPPORTED_MEDIA_TYPE" } });
});
