import { afterAll, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { claimRun, emit, endRun, prepareRun } from "../../testing/act-as-worker.ts";
import { openApi, type ApiUnderTest, type TestTenant } from "../../testing/api-under-test.ts";

let api: ApiUnderTest;
let tenant: TestTenant;
let chat: string;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"));
});
afterAll(() => api.close());
beforeEach(async () => {
  tenant = await api.newTenant();
  chat = (await post("/chats", {})).body.id;
});

const get = (path: string) => api.call("GET", `/api/v2${path}`, { key: tenant.key });
const post = (path: string, body?: unknown, headers = {}) =>
  api.call("POST", `/api/v2${path}`, { key: tenant.key, headers, body });
const remove = (message: string) =>
  api.call("DELETE", `/api/v2/chats/${chat}/messages/${message}`, { key: tenant.key });
const audit = async () => (await get(`/chats/${chat}/context-audit`)).body["audit"];

/** Everything of the tenant that the database can show as text. */
async function stored(): Promise<string> {
  return api.database.client.begin(async (tx) => {
    await tx`select set_config('app.tenant_id', ${tenant.id}, true)`;
    const tables = ["messages", "generation_events", "generation_contents", "idempotency_keys", "generations"];
    const rows = await Promise.all(tables.map((table) => tx.unsafe(`select to_jsonb(t)::text as row from ${table} t`)));
    return JSON.stringify(rows);
  });
}

async function turn(message: string, reply: string): Promise<{ input: string; output: string; generation: string }> {
  const { id } = (await post(`/chats/${chat}/generations`, { message })).body;
  const run = await claimRun(api, tenant, id);
  await prepareRun(api, run);
  await emit(api, run, [{ type: "message.delta", data: { delta: reply, index: 0 } }]);
  await endRun(api, run, "completed", reply);
  const { inputMessageId, targets } = (await get(`/generations/${id}`)).body;
  const [target] = targets as { messageId: string }[];
  return { input: String(inputMessageId), output: target?.messageId ?? "", generation: id };
}

test("a deleted message that was in the last prompt takes the audit with it", async () => {
  const { input } = await turn("My secret.", "Noted.");
  expect(await audit()).not.toBeNull();
  await remove(input);
  expect(await audit()).toBeNull();
  expect(await stored()).not.toContain("My secret.");
});

test("a deleted reply leaves its prompt's audit, and nothing of what was streamed", async () => {
  const { output, generation } = await turn("Hi", "My secret.");
  expect(await stored()).toContain("My secret.");
  await remove(output);
  expect(await audit()).toMatchObject({ generationId: generation });
  expect(await stored()).not.toContain("My secret.");
});

test("the answer kept for a repeat stays an answer, without its text, and adds no message again", async () => {
  const send = () => post(`/chats/${chat}/messages`, { content: "My secret." }, { "idempotency-key": "k" });
  const { id } = (await send()).body;
  await remove(id);
  expect(await stored()).not.toContain("My secret.");
  expect(await send()).toMatchObject({ status: 201, body: { id, content: "" } });
  expect((await get(`/chats/${chat}/messages`)).body["items"]).toEqual([]);
});

test("answers kept for a repeat lose the text under every path that gave it, however it was written", async () => {
  const { id } = (await post(`/chats/${chat}/messages`, { content: "My secret." }, { "idempotency-key": "a" })).body;
  const select = `/chats/${chat}/messages/${id}/select`;
  expect((await post(select, undefined, { "idempotency-key": "b" })).status).toBe(200);
  const escaped = `/ch%61ts/${chat}/messages/${id}/select`;
  expect((await post(escaped, undefined, { "idempotency-key": "c" })).status).toBe(200);
  await remove(id);
  expect(await stored()).not.toContain("My secret.");
});

test("a request kept for a replay is forgotten with any message it may hold", async () => {
  const first = await turn("My secret.", "Noted.");
  const { id } = (await post(`/chats/${chat}/generations`, { message: "And?" })).body;
  const run = await claimRun(api, tenant, id);
  await prepareRun(api, run);
  await endRun(api, run, "failed", "");
  const again = (await post(`/generations/${id}/retry`, { mode: "replay" })).body.id;
  await post(`/generations/${again}/cancel`);
  expect(await stored()).toContain("My secret.");
  await remove(first.input);
  expect(await stored()).not.toContain("My secret.");
  expect((await post(`/generations/${again}/retry`, { mode: "replay" })).body).toMatchObject({
    code: "AUDIT_NOT_AVAILABLE",
  });
});
