import { encodeId } from "@shiftwork/contracts";
import { uuidv7 } from "uuidv7";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openApi, type ApiUnderTest, type TestTenant } from "../testing/api-under-test.ts";

let api: ApiUnderTest;
let tenant: TestTenant;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"));
  tenant = await api.newTenant();
});
afterAll(() => api.close());

const listWith = (key: string, headers = {}) => api.call("GET", "/api/v2/chats", { key, headers });

test("a valid key is let in, twice", async () => {
  expect((await listWith(tenant.key)).status).toBe(200);
  expect((await listWith(tenant.key)).status).toBe(200);
});

test("a well-formed key nobody made, and a right id with a wrong secret, are the same 401", async () => {
  const other = await openOther();
  const [mine, theirs] = [tenant.key, other];
  const mixed = `${mine.slice(0, 19)}${theirs.slice(19)}`;
  for (const key of [theirs.replace(/.$/, "!"), mixed, "nonsense"]) {
    expect(await listWith(key)).toMatchObject({ status: 401, body: { code: "UNAUTHENTICATED" } });
  }
});

test("an expired key says so", async () => {
  const key = await api.newKey(tenant.id, { expiresAt: new Date(Date.now() - 1_000) });
  expect(await listWith(key)).toMatchObject({ status: 401, body: { code: "KEY_EXPIRED" } });
});

test("a revoked key says so", async () => {
  const key = await api.newKey(tenant.id, {});
  await api.admin.client`update api_keys set revoked_at = now() where key_id = ${key.slice(8, 18)}`;
  expect(await listWith(key)).toMatchObject({ status: 401, body: { code: "KEY_REVOKED" } });
});

test("naming the key's own tenant is fine, another one is refused", async () => {
  expect((await listWith(tenant.key, { "x-tenant-id": encodeId("tenant", tenant.id) })).status).toBe(200);
  const other = await listWith(tenant.key, { "x-tenant-id": encodeId("tenant", uuidv7()) });
  expect(other).toMatchObject({ status: 403, body: { code: "INSUFFICIENT_SCOPE" } });
});

test("a key bound to an owner cannot speak for another one", async () => {
  const key = await api.newKey(tenant.id, { ownerId: "u1" });
  expect((await listWith(key, { "x-owner-id": "u1" })).status).toBe(200);
  expect(await listWith(key, { "x-owner-id": "u2" })).toMatchObject({ status: 403 });
});

test("an owner sees the chats of that owner only, and what it makes is its own", async () => {
  const key = await api.newKey(tenant.id, { ownerId: "u3" });
  await api.call("POST", "/api/v2/chats", { key: tenant.key, body: { ownerId: "u4" } });
  const made = await api.call("POST", "/api/v2/chats", { key, body: {} });
  expect((await listWith(key)).body["items"]).toMatchObject([{ id: made.body.id, ownerId: "u3" }]);
  const forged = await api.call("POST", "/api/v2/chats", { key, body: { ownerId: "u4" } });
  expect(forged).toMatchObject({ status: 400, body: { errors: [{ pointer: "/ownerId" }] } });
});

async function openOther(): Promise<string> {
  const other = await api.newTenant();
  return other.key;
}
