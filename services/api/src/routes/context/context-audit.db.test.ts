import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { claimRun, endRun, prepareRun } from "../../testing/act-as-worker.ts";
import { openApi, type ApiUnderTest, type TestTenant } from "../../testing/api-under-test.ts";

const TEXT = "A sentence only this chat holds.";
let api: ApiUnderTest;
let tenant: TestTenant;
let chat: string;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"));
  tenant = await api.newTenant();
  const character = await post("/characters", { name: "Ada", description: "Ada writes." });
  chat = (await post("/chats", { characterId: character.body.id })).body.id;
  await post("/memories", { chatId: chat, content: `${TEXT} Remembered.`, pinned: true });
});
afterAll(() => api.close());

const post = (path: string, body: unknown) => api.call("POST", `/api/v2${path}`, { key: tenant.key, body });
const readAudit = (key = tenant.key) => api.call("GET", `/api/v2/chats/${chat}/context-audit`, { key });

test("the audit follows the generation: none, pending, prepared, finished", async () => {
  expect((await readAudit()).body).toEqual({ audit: null, pending: null });
  const { id } = (await post(`/chats/${chat}/generations`, { message: TEXT })).body;
  expect((await readAudit()).body).toEqual({ audit: null, pending: { generationId: id, status: "queued" } });
  const run = await claimRun(api, tenant, id);
  await prepareRun(api, run, [STOP_LEFT_OUT]);
  expect((await readAudit()).body).toMatchObject({
    audit: { generationId: id, chatId: chat, status: "prepared", finishedAt: null },
    pending: { generationId: id, status: "running" },
  });
  await endRun(api, run, "completed", "Hello");
  expect((await readAudit()).body).toMatchObject({
    audit: { generationId: id, status: "completed", provider: "echo", providerId: tenant.providerId },
    pending: null,
  });
  expect((await api.call("GET", `/api/v2/generations/${id}`, { key: tenant.key })).status).toBe(200);
});

test("the included blocks, in their order, are the messages that were sent; stored rows have public ids", async () => {
  const audit = (await readAudit()).body["audit"] as { [key: string]: unknown };
  const blocks = audit["blocks"] as { order: number | null; content?: string; refId: string | null }[];
  const included = blocks.filter(({ order, content }) => order !== null && content !== undefined);
  const sent = audit["providerMessages"] as { content: string }[];
  expect(included.map(({ content }) => content)).toEqual(sent.map(({ content }) => content));
  expect(sent.at(-1)?.content).toBe(TEXT);
  expect(JSON.stringify(audit)).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-7/);
  expect(audit["contentRestricted"]).toBe(false);
});

test("a key without the content scope sees every row and no text", async () => {
  const key = await api.newKey(tenant.id, { scopes: ["audits:read"] });
  const audit = (await readAudit(key)).body["audit"] as { [key: string]: unknown };
  expect(audit).toMatchObject({ contentRestricted: true, providerRequest: null, providerMessages: [] });
  expect((audit["blocks"] as object[]).length).toBeGreaterThan(2);
  expect(JSON.stringify(audit)).not.toContain("A sentence");
  expect(audit["diagnostics"]).toContainEqual({
    ...STOP_LEFT_OUT,
    detail: { repair: "stop_string_left_out", count: 1, blockIds: [] },
  });
});

test("requests the provider refused as too long are shown to who may see texts, and to nobody else", async () => {
  const { id } = (await post(`/chats/${chat}/generations`, { message: "And then?" })).body;
  const run = await claimRun(api, tenant, id);
  const messages = [{ role: "user", content: `${TEXT} And more.` }] as const;
  const refused = { model: "gpt-4o", messages, max_tokens: 1 };
  await prepareRun(api, run, [], [refused]);
  await endRun(api, run, "completed", "Hello");
  expect((await readAudit()).body["audit"]).toMatchObject({ generationId: id, refusedRequests: [refused] });
  const restricted = (await readAudit(await api.newKey(tenant.id, { scopes: ["audits:read"] }))).body["audit"];
  expect(restricted).toMatchObject({ generationId: id, refusedRequests: [] });
  expect(JSON.stringify(restricted)).not.toContain("And more.");
});

/** Names text of the caller's. */
const STOP_LEFT_OUT = {
  code: "wire_repair",
  stage: "serialize",
  detail: { repair: "stop_string_left_out", count: 1, blockIds: [], texts: ["A sentence that ends it."] },
} as const;
