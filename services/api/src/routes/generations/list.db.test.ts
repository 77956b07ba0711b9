import { decodeId, encodeId } from "@shiftwork/contracts";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { claimRun, endRun } from "../../testing/act-as-worker.ts";
import { openApi, type ApiUnderTest, type CallAnswer, type TestTenant } from "../../testing/api-under-test.ts";
import { failedTurn, sendTurn } from "../../testing/failed-run.ts";

let api: ApiUnderTest;
let tenant: TestTenant;
let other: TestTenant;
let adminKey: string;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"));
  tenant = await api.newTenant();
  other = await api.newTenant();
  adminKey = await api.newAdminKey();
});
afterAll(() => api.close());

const list = (query: string, key = tenant.key, headers = {}) =>
  api.call("GET", `/api/v2/generations?${query}`, { key, headers });
const idsOf = (answer: CallAnswer) => (answer.body["items"] as { id: string }[]).map((item) => item.id);

describe("filters", () => {
  let queued: string;
  let cancelling: string;
  let cancelled: string;
  let failed: string;
  let completed: string;
  let chat: string;

  beforeAll(async () => {
    const first = await sendTurn(api, tenant, { metadata: { ticket: 7, team: "a" } }, { "idempotency-key": "once" });
    [queued, chat] = [first.generation, first.chat];
    cancelling = (await sendTurn(api, tenant, { metadata: { ticket: 8, team: "a" } })).generation;
    await claimRun(api, tenant, cancelling);
    await cancel(cancelling);
    cancelled = (await sendTurn(api, tenant)).generation;
    await cancel(cancelled);
    failed = await failedTurn(api, tenant, "kind-1");
    completed = (await sendTurn(api, tenant, { contextStrategy: "manual" })).generation;
    await endRun(api, await claimRun(api, tenant, completed), "completed", "Hello.");
    const counts = { included: 3, excluded: 1, summarised: 0, truncated: 2 };
    const tokenizer = { profile: "p", approximate: true };
    const numbers = { contextLimit: 8_192, reservedForReply: 1_024, promptTokens: 12, assemblyHash: null };
    const context = { ...numbers, tokenizer, counts };
    await api.worker.client`
      update generations set context = ${api.worker.client.json(context)}, model = 'rare',
        started_at = created_at + interval '5 s', finished_at = created_at + interval '65 s'
      where id = ${decodeId("generation", completed) ?? ""}
    `;
  });

  const cancel = (id: string) =>
    api.call("POST", `/api/v2/generations/${id}/cancel`, { key: tenant.key, body: { reason: "x" } });
  const names = (ids: readonly string[]) => {
    const known = new Map([
      [queued, "queued"],
      [cancelling, "cancelling"],
      [cancelled, "cancelled"],
      [failed, "failed"],
      [completed, "completed"],
    ]);
    return ids.map((id) => known.get(id) ?? id);
  };

  test.each<[string, () => string, string[]]>([
    ["a status", () => "status=failed", ["failed"]],
    ["several", () => "status=failed,queued", ["failed", "queued"]],
    ["a status as it is shown", () => "status=cancelling", ["cancelling"]],
    ["running without what is cancelling", () => "status=running", []],
    ["none of", () => "status!=completed,cancelled", ["failed", "cancelling", "queued"]],
    ["both", () => "status=failed,queued&status!=queued", ["failed"]],
    ["an error code", () => "errorCode=PROVIDER_TIMEOUT", ["failed"]],
    ["an error origin", () => "errorOrigin=provider", ["failed"]],
    ["another origin", () => "errorOrigin=client", []],
    ["a kind of failure", () => "errorFingerprint=kind-1", ["failed"]],
    ["dead letters", () => "deadLetter=open", ["failed"]],
    ["a model", () => "model=rare", ["completed"]],
    ["a strategy", () => "strategy=manual", ["completed"]],
    ["a chat", () => `chatId=${chat}`, ["queued"]],
    ["a provider", () => `providerId=${tenant.providerId}&status=queued`, ["queued"]],
    ["counted by estimate", () => "approximate=true", ["completed"]],
    ["something shortened", () => "truncated=true", ["completed"]],
    ["nothing shortened", () => "truncated=false", []],
    ["long ones", () => "minDurationMs=60000", ["completed"]],
    ["longer ones", () => "minDurationMs=60001", []],
    ["those that waited", () => "minQueueMs=5000", ["completed"]],
    ["a label", () => "meta.ticket=7", ["queued"]],
    ["a label's value under another key", () => "meta.team=7", []],
    ["two labels", () => "meta.ticket=8&meta.team=a", ["cancelling"]],
    ["labels of different ones", () => "meta.ticket=8&meta.team=b", []],
    ["an Idempotency-Key", () => "idempotencyKey=once", ["queued"]],
    ["the beginning of an id", () => `q=${queued.slice(0, 34)}`, ["queued"]],
    ["a time to come", () => `since=${new Date(Date.now() + 60_000).toISOString()}`, []],
    ["a time gone by", () => `until=${new Date(Date.now() - 60_000).toISOString()}`, []],
  ])("%s", async (_name, query, expected) => {
    const answer = await list(query());
    expect(answer.status).toBe(200);
    expect(names(idsOf(answer))).toEqual(expected);
  });

  test("since includes and until excludes what was accepted at that moment", async () => {
    const [row] = await api.worker.client`
      update generations set created_at = date_trunc('milliseconds', created_at)
      where id = ${decodeId("generation", completed) ?? ""} returning created_at as at
    `;
    const moment: number = row?.["at"].getTime();
    const at = (ms: number) => new Date(moment + ms).toISOString();
    const found = async (bound: string) => names(idsOf(await list(`model=rare&${bound}`)));
    expect([await found(`until=${at(1)}`), await found(`until=${at(0)}`)]).toEqual([["completed"], []]);
    expect([await found(`since=${at(0)}`), await found(`since=${at(1)}`)]).toEqual([["completed"], []]);
  });

  test("oldest first on request, and a count that names its bound", async () => {
    const answer = await list("sort=createdAt&include=count&limit=2");
    expect(names(idsOf(answer))).toEqual(["queued", "cancelling"]);
    expect(answer.body).toMatchObject({ hasMore: true, count: { count: 5, capped: false } });
    const next = await list(`sort=createdAt&limit=200&cursor=${String(answer.body["nextCursor"])}`);
    expect(names(idsOf(next))).toEqual(["cancelled", "failed", "completed"]);
  });
});

test.each([
  ["status=broken", "/status/0"],
  ["errorOrigin=nobody", "/errorOrigin"],
  ["approximate=maybe", "/approximate"],
  ["minQueueMs=-1", "/minQueueMs"],
  ["since=yesterday", "/since"],
  ["q=chat_1", "/q"],
  ["sort=model", "/sort"],
  ["providerId=prov_1", "/providerId"],
])("%s is refused by its name", async (query, pointer) => {
  const answer = await list(query);
  expect(answer).toMatchObject({ status: 400, body: { code: "VALIDATION_FAILED", errors: [{ pointer }] } });
});

test("pages neither repeat nor skip while turns come in", async () => {
  const fresh = await api.newTenant();
  const sent: string[] = [];
  for (let turn = 0; turn < 5; turn += 1) sent.push((await sendTurn(api, fresh)).generation);
  const first = await list("limit=2", fresh.key);
  await sendTurn(api, fresh);
  const second = await list(`limit=2&cursor=${String(first.body["nextCursor"])}`, fresh.key);
  const third = await list(`limit=2&cursor=${String(second.body["nextCursor"])}`, fresh.key);
  expect([first, second, third].flatMap(idsOf)).toEqual(sent.toReversed());
  expect(third.body).toMatchObject({ hasMore: false, nextCursor: null });
});

test("a cursor of another sort, filter or label is refused", async () => {
  const fresh = await api.newTenant();
  for (let turn = 0; turn < 2; turn += 1) await sendTurn(api, fresh, { metadata: { a: "1" } });
  const cursor = String((await list("limit=1&meta.a=1", fresh.key)).body["nextCursor"]);
  expect((await list(`limit=1&meta.a=1&cursor=${cursor}`, fresh.key)).status).toBe(200);
  for (const query of ["limit=1", "meta.a=2", "meta.a=1&sort=createdAt", "meta.a=1&status=queued"]) {
    expect((await list(`${query}&cursor=${cursor}`, fresh.key)).body["code"]).toBe("INVALID_CURSOR");
  }
});

describe("across tenants", () => {
  test("an admin sees every tenant's generations, each with its tenant, or narrows them to one", async () => {
    const fresh = await api.newTenant();
    const [mine, theirs] = [(await sendTurn(api, fresh)).generation, (await sendTurn(api, other)).generation];
    const everywhere = await list("limit=2&include=count", adminKey, { "x-tenant-id": "*" });
    expect(everywhere.body["items"]).toMatchObject([
      { id: theirs, tenantId: encodeId("tenant", other.id) },
      { id: mine, tenantId: encodeId("tenant", fresh.id) },
    ]);
    const narrowed = `tenantId=${encodeId("tenant", fresh.id)}`;
    expect(idsOf(await list(narrowed, adminKey, { "x-tenant-id": "*" }))).toEqual([mine]);
    expect(idsOf(await list("", adminKey, { "x-tenant-id": encodeId("tenant", fresh.id) }))).toEqual([mine]);
  });

  test("cursors, labels and Idempotency-Keys work there too", async () => {
    const turn = { metadata: { everywhere: "yes" } };
    const mine = await sendTurn(api, tenant, turn, { "idempotency-key": "across" });
    const theirs = await sendTurn(api, other, turn);
    const all = { "x-tenant-id": "*" };
    const first = await list("limit=1&meta.everywhere=yes", adminKey, all);
    expect(idsOf(first)).toEqual([theirs.generation]);
    const cursor = String(first.body["nextCursor"]);
    expect(idsOf(await list(`limit=1&meta.everywhere=yes&cursor=${cursor}`, adminKey, all))).toEqual([mine.generation]);
    expect(idsOf(await list("idempotencyKey=across", adminKey, all))).toEqual([mine.generation]);
  });

  test("a tenant's key can neither see all nor name a tenant", async () => {
    expect(await list("", tenant.key, { "x-tenant-id": "*" })).toMatchObject({ status: 403 });
    const named = await list(`tenantId=${encodeId("tenant", other.id)}`);
    expect(named).toMatchObject({ status: 400, body: { errors: [{ pointer: "/tenantId" }] } });
  });

  test("an admin key that was not made for texts sees none", async () => {
    const { chat } = await sendTurn(api, tenant);
    const headers = { "x-tenant-id": encodeId("tenant", tenant.id) };
    const call = (path: string) => api.call("GET", `/api/v2/chats/${chat}${path}`, { key: adminKey, headers });
    expect((await call("/messages")).body["code"]).toBe("INSUFFICIENT_SCOPE");
    expect((await call("/context-audit")).status).toBe(200);
  });
});
