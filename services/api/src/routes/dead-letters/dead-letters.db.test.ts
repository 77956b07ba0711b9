import { encodeId } from "@shiftwork/contracts";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { claimRun, endRun } from "../../testing/act-as-worker.ts";
import { openApi, type ApiUnderTest, type CallAnswer, type TestTenant } from "../../testing/api-under-test.ts";
import { failedTurn, sendTurn } from "../../testing/failed-run.ts";

let api: ApiUnderTest;
let tenant: TestTenant;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"));
});
afterAll(() => api.close());
beforeEach(async () => {
  tenant = await api.newTenant();
});

const get = (path: string) => api.call("GET", `/api/v2${path}`, { key: tenant.key });
const post = (path: string, body?: unknown, headers = {}) =>
  api.call("POST", `/api/v2${path}`, { key: tenant.key, body, headers });
const idsOf = (answer: CallAnswer) => (answer.body["items"] as { id: string }[]).map((item) => item.id);

test("failures outside the request are listed newest first, with their generation", async () => {
  const first = await failedTurn(api, tenant, "a");
  const second = await failedTurn(api, tenant, "b");
  await sendTurn(api, tenant);
  const answer = await get("/dead-letters");
  expect(answer.body["items"]).toMatchObject([
    { id: second, state: "open", note: null, errorFingerprint: "b", generation: { id: second, status: "failed" } },
    { id: first },
  ]);
  expect(idsOf(await get("/dead-letters?errorFingerprint=a"))).toEqual([first]);
  expect(idsOf(await get(`/dead-letters?limit=1&cursor=${await cursorOf("/dead-letters?limit=1")}`))).toEqual([first]);
});

test("a generation that is no dead letter is missing here", async () => {
  const { generation } = await sendTurn(api, tenant);
  for (const answer of [
    await get(`/dead-letters/${generation}`),
    await post(`/dead-letters/${generation}/retry`),
    await post(`/dead-letters/${generation}/discard`, { note: "x" }),
  ]) {
    expect(answer).toMatchObject({ status: 404, body: { code: "GENERATION_NOT_FOUND" } });
  }
});

test("a retry makes a new generation, once per Idempotency-Key, and takes the letter off the list", async () => {
  const id = await failedTurn(api, tenant, "a");
  const once = { "idempotency-key": "k" };
  const retried = await post(`/dead-letters/${id}/retry`, undefined, once);
  expect(retried).toMatchObject({ status: 202, body: { retryOf: id, status: "queued" } });
  expect((await post(`/dead-letters/${id}/retry`, undefined, once)).body.id).toBe(retried.body.id);
  expect(idsOf(await get("/dead-letters"))).toEqual([]);
  expect(idsOf(await get("/dead-letters?state=retried"))).toEqual([id]);
  expect((await get(`/dead-letters/${id}`)).body).toMatchObject({ state: "retried" });
});

test("a retry by the ordinary route takes it off the list too", async () => {
  const id = await failedTurn(api, tenant, "a");
  expect((await post(`/generations/${id}/retry`, {})).status).toBe(202);
  expect((await get(`/dead-letters/${id}`)).body).toMatchObject({ state: "retried" });
});

test("a retry takes no mode: a field it would not heed is refused", async () => {
  const id = await failedTurn(api, tenant, "a");
  expect(await post(`/dead-letters/${id}/retry`, { mode: "replay" })).toMatchObject({
    status: 400,
    body: { code: "VALIDATION_FAILED", errors: [{ pointer: "/mode", code: "unknown_field" }] },
  });
  expect((await post(`/dead-letters/${id}/retry`, {})).status).toBe(202);
});

test("a retry that is refused leaves the letter open", async () => {
  const id = await failedTurn(api, tenant, "a");
  const { chatId } = (await get(`/generations/${id}`)).body;
  await post(`/chats/${String(chatId)}/generations`, {});
  expect((await post(`/dead-letters/${id}/retry`)).body["code"]).toBe("CHAT_BUSY");
  expect((await get(`/dead-letters/${id}`)).body).toMatchObject({ state: "open" });
});

describe("a retry that is cancelled has answered nothing", () => {
  const retry = async (id: string) => (await post(`/generations/${id}/retry`, {})).body.id;
  const cancel = (id: string) => post(`/generations/${id}/cancel`, {});
  const stateOf = async (id: string) => (await get(`/dead-letters/${id}`)).body["state"];

  test("while it waited: the letter is on the list again, and can be retried", async () => {
    const id = await failedTurn(api, tenant, "a");
    await cancel(await retry(id));
    expect(idsOf(await get("/dead-letters"))).toEqual([id]);
    expect((await post(`/dead-letters/${id}/retry`)).status).toBe(202);
  });

  test("while it ran, or with many others, alike", async () => {
    const [ran, waited] = [await failedTurn(api, tenant, "a"), await failedTurn(api, tenant, "a")];
    const running = await retry(ran);
    const run = await claimRun(api, tenant, running);
    const waiting = await retry(waited);
    await post("/bulk-actions", { action: "cancel", ids: [running, waiting] });
    await api.runBulkActions();
    expect([await stateOf(ran), await stateOf(waited)]).toEqual(["retried", "open"]);
    await endRun(api, run, "completed", "Too late.");
    expect(await stateOf(ran)).toBe("open");
  });

  test("a letter that had been discarded is that again", async () => {
    const id = await failedTurn(api, tenant, "a");
    await post(`/dead-letters/${id}/discard`, { note: "A test account." });
    await cancel(await retry(id));
    expect((await get(`/dead-letters/${id}`)).body).toMatchObject({ state: "discarded", note: "A test account." });
  });

  test("retrying the cancelled retry takes the letter off the list, and one that failed in its place keeps it off", async () => {
    const id = await failedTurn(api, tenant, "a");
    const first = await retry(id);
    await cancel(first);
    const second = await retry(first);
    expect(await stateOf(id)).toBe("retried");
    await cancel(second);
    expect(await stateOf(id)).toBe("open");
    const third = await retry(second);
    await endRun(api, await claimRun(api, tenant, third), "failed", "");
    await cancel(await retry(id));
    expect([await stateOf(id), await stateOf(third)]).toEqual(["retried", "open"]);
  });
});

test("discarding needs a reason, keeps it, and is done once", async () => {
  const id = await failedTurn(api, tenant, "a");
  for (const body of [{}, { note: "  " }]) {
    expect(await post(`/dead-letters/${id}/discard`, body)).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: "/note" }] },
    });
  }
  const discarded = await post(`/dead-letters/${id}/discard`, { note: "A test account." });
  expect(discarded.body).toMatchObject({ state: "discarded", note: "A test account." });
  expect(idsOf(await get("/dead-letters?state=discarded"))).toEqual([id]);
  expect(await post(`/dead-letters/${id}/discard`, { note: "Again." })).toMatchObject({ status: 409 });
  expect((await get(`/dead-letters/${id}`)).body).toMatchObject({ note: "A test account." });
});

test("an admin lists those of every tenant, or of one", async () => {
  const other = await api.newTenant();
  const [mine, theirs] = [await failedTurn(api, tenant, "a"), await failedTurn(api, other, "a")];
  const key = await api.newAdminKey();
  const list = (query: string) =>
    api.call("GET", `/api/v2/dead-letters?${query}`, { key, headers: { "x-tenant-id": "*" } });
  expect((await list("limit=2")).body["items"]).toMatchObject([
    { id: theirs, tenantId: encodeId("tenant", other.id), generation: { id: theirs } },
    { id: mine, tenantId: encodeId("tenant", tenant.id) },
  ]);
  expect(idsOf(await list(`tenantId=${encodeId("tenant", tenant.id)}`))).toEqual([mine]);
});

async function cursorOf(path: string): Promise<string> {
  return String((await get(path)).body["nextCursor"]);
}
