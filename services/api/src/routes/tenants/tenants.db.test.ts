import { decodeId, encodeId } from "@shiftwork/contracts";
import { uuidv7 } from "uuidv7";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openApi, type ApiUnderTest } from "../../testing/api-under-test.ts";

let api: ApiUnderTest;
let key: string;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"));
  key = await api.newAdminKey();
});
afterAll(() => api.close());

const call = (method: "GET" | "POST" | "PATCH", path: string, body?: unknown) =>
  api.call(method, `/api/v2${path}`, { key, ...(body === undefined ? {} : { body }) });

test("a tenant is made with the limits it is given and the usual ones, and is usable at once", async () => {
  const made = await call("POST", "/tenants", { name: "Harbour", weight: 5 });
  const limits = { maxConcurrency: 16, maxQueued: 10_000, weight: 5, concurrencyShare: null };
  expect(made).toMatchObject({ status: 201, body: { name: "Harbour", ...limits, pausedAt: null } });
  expect(made.headers["location"]).toBe(`/api/v2/tenants/${made.body.id}`);
  expect((await call("GET", `/tenants/${made.body.id}`)).body).toEqual(made.body);
  const own = await api.newKey(decodeId("tenant", made.body.id) ?? "", {});
  expect((await api.call("POST", "/api/v2/chats", { key: own, body: {} })).status).toBe(201);
});

test("a change keeps what it leaves out, and the dispatcher is told to read limits again", async () => {
  const { body: before } = await call("POST", "/tenants", { name: "Harbour", concurrencyShare: 4 });
  const told = new Promise<string>((resolve, reject) => {
    api.worker.client.listen("shiftwork_dispatch", resolve, () => {}).catch(reject);
  });
  await expect.poll(() => listening()).toBe(true);
  const after = await call("PATCH", `/tenants/${before.id}`, { maxConcurrency: 2, concurrencyShare: null });
  expect(after.body).toEqual({ ...before, maxConcurrency: 2, concurrencyShare: null });
  expect(await told).toBe("");
  expect((await call("PATCH", `/tenants/${before.id}`, {})).body).toEqual(after.body);
});

test("paused shows since when", async () => {
  const { id } = (await call("POST", "/tenants", { name: "Harbour" })).body;
  await call("POST", `/tenants/${id}/pause`);
  expect((await call("GET", `/tenants/${id}`)).body["pausedAt"]).toEqual(expect.any(String));
});

test("they are listed newest first, page by page", async () => {
  const [first, second] = [
    await call("POST", "/tenants", { name: "A" }),
    await call("POST", "/tenants", { name: "B" }),
  ];
  const page = await call("GET", "/tenants?limit=1");
  expect(page.body["items"]).toEqual([second.body]);
  const next = await call("GET", `/tenants?limit=1&cursor=${String(page.body["nextCursor"])}`);
  expect(next.body["items"]).toEqual([first.body]);
});

test("a limit that cannot be is refused by its name, an unknown tenant is missing", async () => {
  expect((await call("POST", "/tenants", { name: "A", weight: 101 })).body["errors"]).toMatchObject([
    { pointer: "/weight", fix: "Send at most 100." },
  ]);
  for (const method of ["GET", "PATCH"] as const) {
    const body = method === "PATCH" ? { name: "A" } : undefined;
    const answer = await call(method, `/tenants/${encodeId("tenant", uuidv7())}`, body);
    expect(answer).toMatchObject({ status: 404, body: { code: "TENANT_NOT_FOUND" } });
  }
});

/** The listener's connection is open and waits. */
async function listening(): Promise<boolean> {
  const rows = await api.admin.client.begin(async (tx) => {
    await tx`set local role none`;
    return tx`
      select from pg_stat_activity
      where datname = current_database() and query ilike 'listen%shiftwork_dispatch%' and state = 'idle'
    `;
  });
  return rows.length > 0;
}
