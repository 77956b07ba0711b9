import { encodeId } from "@shiftwork/contracts";
import { heartbeat, takeLease } from "@shiftwork/db";
import { uuidv7 } from "uuidv7";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { createHealthCheck } from "../../health/check-health.ts";
import { claimRun } from "../../testing/act-as-worker.ts";
import { openApi, type ApiUnderTest, type TestTenant } from "../../testing/api-under-test.ts";
import { sendTurn } from "../../testing/failed-run.ts";

let api: ApiUnderTest;
let tenant: TestTenant;
let adminKey: string;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"));
  tenant = await api.newTenant();
  adminKey = await api.newAdminKey();
});
afterAll(() => api.close());

const asAdmin = (method: "GET" | "POST", path: string, headers = {}) =>
  api.call(method, `/api/v2${path}`, { key: adminKey, headers });

test("health is failing until a worker lives and leads, and while the queue does not answer", async () => {
  const check = (queue: { state: () => Promise<"gone"> }) =>
    createHealthCheck({ adminDb: api.admin.db, queue, deadAfterMs: 6_000 })();
  const up = { state: async () => "gone" as const };
  expect(await check(up)).toEqual({
    status: "failing",
    database: "ok",
    queue: "ok",
    leader: "failing",
    workers: { status: "failing", alive: 0, slots: 0 },
  });
  const worker = { id: uuidv7(), host: "h", pid: 1, slots: 4 };
  await heartbeat(api.worker.db, worker);
  expect(await check(up)).toMatchObject({ status: "failing", leader: "failing", workers: { status: "ok", slots: 4 } });
  await takeLease(api.worker.db, "leader", worker.id, 60_000);
  expect(await check(up)).toMatchObject({ status: "ok", leader: "ok", workers: { alive: 1 } });
  await asAdmin("POST", "/queues/default/pause");
  expect(await check(up)).toMatchObject({
    status: "paused",
    database: "ok",
    queue: "paused",
    workers: { status: "ok" },
  });
  const down = { state: () => Promise.reject(new Error("away")) };
  expect(await check(down)).toMatchObject({ status: "failing", database: "ok", queue: "failing" });
  await api.worker.client`update workers set heartbeat_at = now() - interval '10 s'`;
  expect(await check(up)).toMatchObject({ status: "failing", queue: "paused" });
  await asAdmin("POST", "/queues/default/resume");
  expect(await check(up)).toMatchObject({ status: "failing", leader: "failing", workers: { alive: 0 } });
  await heartbeat(api.worker.db, worker);
});

test("anybody may ask for health, and readiness does not depend on it", async () => {
  const answer = await api.call("GET", "/api/v2/health");
  expect([answer.status, answer.headers["cache-control"]]).toEqual([200, "no-store"]);
  expect((await api.call("GET", "/readyz")).status).toBe(200);
});

test("workers are listed with what they run, the leader first", async () => {
  const { generation } = await sendTurn(api, tenant);
  const { fence } = await claimRun(api, tenant, generation);
  const [running] = await api.worker.client`select worker_id as id from generations where fence = ${fence}`;
  await heartbeat(api.worker.db, { id: running?.["id"], host: "other", pid: 2, slots: 8 });
  const { body } = await asAdmin("GET", "/workers");
  expect(body["items"]).toMatchObject([
    { host: "h", leads: true, busy: 0, slots: 4, alive: true },
    { id: encodeId("worker", running?.["id"]), host: "other", leads: false, busy: 1, slots: 8, alive: true },
  ]);
});

test("queue stats are the tenant's own, or with an admin key those of all", async () => {
  const other = await api.newTenant();
  await sendTurn(api, other);
  await sendTurn(api, other);
  const own = await api.call("GET", "/api/v2/stats/queue", { key: other.key });
  expect(own.body).toMatchObject({ name: "default", paused: false, waiting: 2, running: 0 });
  expect(own.body["tenants"]).toBeUndefined();
  const all = await asAdmin("GET", "/stats/queue", { "x-tenant-id": "*" });
  expect(all.body["tenants"]).toContainEqual(
    expect.objectContaining({ tenantId: encodeId("tenant", other.id), waiting: 2 }),
  );
  expect(all.body["running"]).toBe(1);
});

test("a paused queue and a paused tenant show, and resume", async () => {
  expect((await asAdmin("POST", "/queues/default/pause")).body).toEqual({
    object: "queue",
    name: "default",
    paused: true,
  });
  expect((await api.call("GET", "/api/v2/stats/queue", { key: tenant.key })).body["paused"]).toBe(true);
  expect((await asAdmin("POST", "/queues/default/resume")).body).toMatchObject({ paused: false });
  expect((await asAdmin("POST", "/queues/other/pause")).body["code"]).toBe("NOT_FOUND");
  const id = encodeId("tenant", tenant.id);
  const pausedAt = async () =>
    (await api.admin.client`select paused_at as at from tenants where id = ${tenant.id}`)[0]?.["at"];
  expect((await asAdmin("POST", `/tenants/${id}/pause`)).body).toEqual({ id, object: "tenant", paused: true });
  expect(await pausedAt()).not.toBeNull();
  expect((await asAdmin("POST", `/tenants/${id}/resume`)).body).toMatchObject({ paused: false });
  expect(await pausedAt()).toBeNull();
  const missing = await asAdmin("POST", `/tenants/${encodeId("tenant", uuidv7())}/pause`);
  expect(missing.body["code"]).toBe("TENANT_NOT_FOUND");
});
