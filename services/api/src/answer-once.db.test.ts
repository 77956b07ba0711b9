import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openApi, type ApiUnderTest, type TestTenant } from "./testing/api-under-test.ts";

let api: ApiUnderTest;
let tenant: TestTenant;
let chat: string;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"));
  tenant = await api.newTenant();
});
afterAll(() => api.close());

const post = (path: string, body: unknown, idempotencyKey: string, headers = {}) =>
  api.call("POST", path, { key: tenant.key, body, headers: { "idempotency-key": idempotencyKey, ...headers } });

test("a repeat gets the stored answer, headers included, and makes nothing", async () => {
  const first = await post("/api/v2/personas", { name: "A" }, "k1");
  const again = await post("/api/v2/personas", { name: "A" }, "k1");
  expect(again).toMatchObject({ status: 201, body: first.body });
  expect(again.headers).toMatchObject({ "idempotency-replayed": "true", location: first.headers["location"] });
  expect(first.headers["idempotency-replayed"]).toBeUndefined();
  expect(await countPersonas("A")).toBe(1);
});

test("the same key with another body is refused", async () => {
  await post("/api/v2/personas", { name: "B" }, "k2");
  expect(await post("/api/v2/personas", { name: "C" }, "k2")).toMatchObject({
    status: 422,
    body: { code: "IDEMPOTENCY_KEY_REUSED" },
  });
  expect(await countPersonas("C")).toBe(0);
});

test("the same key is another key on another path, and in another owner's name", async () => {
  expect((await post("/api/v2/characters", { name: "A" }, "k1")).status).toBe(201);
  expect(await post("/api/v2/personas", { name: "A" }, "k1", { "x-owner-id": "u" })).toMatchObject({ status: 422 });
});

test("a refused request leaves its key free", async () => {
  expect((await post("/api/v2/personas", { name: "" }, "k3")).status).toBe(400);
  expect((await post("/api/v2/personas", { name: "D" }, "k3")).status).toBe(201);
});

test("requests at the same time with one key make one row and get one answer", async () => {
  const answers = await Promise.all(Array.from({ length: 5 }, () => post("/api/v2/personas", { name: "E" }, "k4")));
  expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
  expect(answers.filter((answer) => answer.headers["idempotency-replayed"] === "true")).toHaveLength(4);
  expect(await countPersonas("E")).toBe(1);
});

test("a repeat during a long first request is told to come back", async () => {
  await post("/api/v2/personas", { name: "F" }, "k5");
  const answer = await api.admin.client.begin(async (tx) => {
    await tx`set local role shiftwork_api`;
    await tx`select set_config('app.tenant_id', ${tenant.id}, true)`;
    await tx`delete from idempotency_keys where tenant_id = ${tenant.id} and key = 'k5'`;
    return post("/api/v2/personas", { name: "F" }, "k5");
  });
  expect(answer).toMatchObject({ status: 409, body: { code: "IDEMPOTENCY_IN_PROGRESS" } });
  expect(answer.headers["retry-after"]).toBe("2");
});

test("a repeated turn is the same generation, whatever became of it", async () => {
  chat = (await api.call("POST", "/api/v2/chats", { key: tenant.key, body: {} })).body.id;
  const first = await post(`/api/v2/chats/${chat}/generations`, { message: "Hi" }, "k6");
  await api.call("POST", `/api/v2/generations/${first.body.id}/cancel`, { key: tenant.key });
  const again = await post(`/api/v2/chats/${chat}/generations`, { message: "Hi" }, "k6");
  expect(again).toMatchObject({ status: 202, body: first.body });
});

test("deleting a chat deletes the stored answers that came from it", async () => {
  await api.call("DELETE", `/api/v2/chats/${chat}`, { key: tenant.key });
  const again = await post(`/api/v2/chats/${chat}/generations`, { message: "Hi" }, "k6");
  expect(again).toMatchObject({ status: 404, body: { code: "CHAT_NOT_FOUND" } });
});

test("an empty or overlong key is refused", async () => {
  expect(await post("/api/v2/personas", { name: "G" }, "x".repeat(256))).toMatchObject({ status: 400 });
});

async function countPersonas(name: string): Promise<number> {
  const list = await api.call("GET", "/api/v2/personas?limit=200", { key: tenant.key });
  return (list.body["items"] as { name: string }[]).filter((persona) => persona.name === name).length;
}
