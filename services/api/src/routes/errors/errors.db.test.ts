import { decodeId, encodeId } from "@shiftwork/contracts";
import { afterAll, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { openApi, type ApiUnderTest, type TestTenant } from "../../testing/api-under-test.ts";
import { failedTurn } from "../../testing/failed-run.ts";

let api: ApiUnderTest;
let tenant: TestTenant;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"));
});
afterAll(() => api.close());
beforeEach(async () => {
  tenant = await api.newTenant();
});

const list = (query = "", headers = {}) => api.call("GET", `/api/v2/errors${query}`, { key: tenant.key, headers });
const read = (fingerprint: string, key = tenant.key) => api.call("GET", `/api/v2/errors/${fingerprint}`, { key });
const say = (fingerprint: string, state: string, key = tenant.key, headers = {}) =>
  api.call("PATCH", `/api/v2/errors/${fingerprint}`, { key, headers, body: { state } });

test("failures are grouped by kind, the one that happened last first", async () => {
  const first = await failedTurn(api, tenant, "a");
  await failedTurn(api, tenant, "b");
  const last = await failedTurn(api, tenant, "a");
  const { body } = await list();
  expect(body["items"]).toMatchObject([
    {
      fingerprint: "a",
      errorCode: "PROVIDER_TIMEOUT",
      errorOrigin: "provider",
      providerKind: "echo",
      model: "gpt-4o",
      count: { count: 2, capped: false },
      sampleGenerationIds: [last, first],
      state: "open",
      regressed: false,
      stateChangedAt: null,
    },
    { fingerprint: "b", count: { count: 1, capped: false } },
  ]);
  const [group] = body["items"] as { firstSeenAt: string; lastSeenAt: string }[];
  expect(Date.parse(group?.firstSeenAt ?? "")).toBeLessThan(Date.parse(group?.lastSeenAt ?? ""));
});

test("a resolved kind that happens again is open again and says so", async () => {
  await failedTurn(api, tenant, "a");
  expect((await say("a", "resolved")).body).toMatchObject({ state: "resolved", regressed: false });
  expect((await list("?state=open")).body["items"]).toEqual([]);
  await failedTurn(api, tenant, "a");
  expect((await read("a")).body).toMatchObject({ state: "open", regressed: true });
  expect((await list("?state=open")).body["items"]).toHaveLength(1);
  expect((await say("a", "open")).body).toMatchObject({ state: "open", regressed: false });
});

test("an admin lists those of every tenant, each tenant's own group and state, or of one", async () => {
  const other = await api.newTenant();
  for (const of of [tenant, tenant, other]) await failedTurn(api, of, "a");
  await say("a", "resolved");
  const key = await api.newAdminKey();
  const everywhere = async (query: string) =>
    (await api.call("GET", `/api/v2/errors?${query}`, { key, headers: { "x-tenant-id": "*" } })).body;
  const [theirs, mine] = [encodeId("tenant", other.id), encodeId("tenant", tenant.id)];
  const first = await everywhere("limit=1&errorCode=PROVIDER_TIMEOUT");
  expect(first["items"]).toMatchObject([{ tenantId: theirs, fingerprint: "a", state: "open", count: { count: 1 } }]);
  const second = await everywhere(`limit=1&errorCode=PROVIDER_TIMEOUT&cursor=${String(first["nextCursor"])}`);
  expect(second["items"]).toMatchObject([{ tenantId: mine, fingerprint: "a", state: "resolved", count: { count: 2 } }]);
  expect((await everywhere(`tenantId=${mine}`))["items"]).toMatchObject([{ tenantId: mine }]);
  expect((await everywhere("errorCode=INTERNAL"))["items"]).toEqual([]);
  expect((await list(`?tenantId=${mine}`)).body["errors"]).toMatchObject([{ pointer: "/tenantId" }]);
  expect((await list()).body["items"]).toMatchObject([expect.not.objectContaining({ tenantId: mine })]);
});

test("an ignored kind stays ignored", async () => {
  await failedTurn(api, tenant, "a");
  await say("a", "ignored");
  await failedTurn(api, tenant, "a");
  expect((await list("?state=ignored")).body["items"]).toMatchObject([{ count: { count: 2 }, regressed: false }]);
});

test("groups come in pages, and only those asked for", async () => {
  for (const kind of ["a", "b", "c"]) await failedTurn(api, tenant, kind);
  const first = await list("?limit=2");
  const second = await list(`?limit=2&cursor=${String(first.body["nextCursor"])}`);
  const kinds = [first, second].flatMap(({ body }) => body["items"] as { fingerprint: string }[]);
  expect(kinds.map(({ fingerprint }) => fingerprint)).toEqual(["c", "b", "a"]);
  expect((await list("?model=gpt-4o&errorCode=PROVIDER_TIMEOUT&errorOrigin=provider")).body["items"]).toHaveLength(3);
  expect((await list("?errorOrigin=platform")).body["items"]).toEqual([]);
});

test("a kind that never happened to this tenant is missing, whatever happened to others", async () => {
  const other = await api.newTenant();
  await failedTurn(api, other, "theirs");
  for (const answer of [await read("theirs"), await read("nobodys"), await say("theirs", "resolved")]) {
    expect(answer).toMatchObject({ status: 404, body: { code: "ERROR_GROUP_NOT_FOUND" } });
  }
  expect((await read("theirs", other.key)).body).toMatchObject({ state: "open" });
});

test("an owner sees the failures of their own turns, and cannot speak for the tenant", async () => {
  const mine = await failedTurn(api, tenant, "a", { "x-owner-id": "me" });
  await failedTurn(api, tenant, "a");
  await failedTurn(api, tenant, "b");
  const headers = { "x-owner-id": "me" };
  expect((await list("", headers)).body["items"]).toMatchObject([{ fingerprint: "a", sampleGenerationIds: [mine] }]);
  expect((await say("a", "resolved", tenant.key, headers)).status).toBe(403);
});

test("to say what becomes of a failure takes more than seeing it", async () => {
  await failedTurn(api, tenant, "a");
  const key = await api.newKey(tenant.id, { scopes: ["metrics:read"] });
  expect((await read("a", key)).status).toBe(200);
  expect((await say("a", "resolved", key)).body["code"]).toBe("INSUFFICIENT_SCOPE");
});

test("a large group is counted to its bound and no further", async () => {
  const id = decodeId("generation", await failedTurn(api, tenant, "a"));
  await api.worker.client`
    insert into generations (tenant_id, id, status, action, provider_id, provider_kind, model, strategy, seed, deadline_at,
      error, error_code, error_fingerprint, finished_at)
    select tenant_id, gen_random_uuid(), status, action, provider_id, provider_kind, model, strategy, seed, deadline_at,
      error, error_code, error_fingerprint, finished_at
    from generations, generate_series(1, 10000) where id = ${id}
  `;
  expect((await read("a")).body["count"]).toEqual({ count: 10_000, capped: true });
});
