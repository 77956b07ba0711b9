import { decodeId, encodeId } from "@shiftwork/contracts";
import { findProvider, withTenant } from "@shiftwork/db";
import { openSecret, providerSecretContext } from "@shiftwork/platform";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openApi, PEPPER, type ApiUnderTest } from "./testing/api-under-test.ts";

const run = promisify(execFile);
const masterKey = Buffer.alloc(32, 3);
let api: ApiUnderTest;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"));
});
afterAll(() => api.close());

test("provisioning prints a key that works and seals the provider's secret", async () => {
  const flags = [
    "--provider-kind",
    "openai-compatible",
    "--base-url",
    "http://127.0.0.1:1/v1",
    "--allow-private-network",
  ];
  const made = await provision([
    "--tenant",
    "Mine",
    ...flags,
    "--api-key-env",
    "UPSTREAM",
    "--model",
    "m",
    "--context-limit",
    "4096",
  ]);
  const chat = await api.call("POST", "/api/v2/chats", { key: made["apiKey"] ?? "", body: {} });
  expect(chat.status).toBe(201);
  const sent = await api.call("POST", `/api/v2/chats/${chat.body.id}/generations`, {
    key: made["apiKey"] ?? "",
    body: { message: "Hi" },
  });
  expect(sent.body).toMatchObject({ model: "m", provider: { id: made["providerId"], kind: "openai-compatible" } });
  const [tenantId, providerId] = [uuid("tenant", made["tenantId"]), uuid("provider", made["providerId"])];
  const provider = await withTenant(api.database.db, tenantId, (tx) => findProvider(tx, tenantId, providerId));
  expect(provider).toMatchObject({ allowPrivateNetwork: true, models: [{ model: "m", contextLimit: 4096 }] });
  expect(openSecret(masterKey, provider?.secret ?? new Uint8Array(), providerSecretContext(tenantId, providerId))).toBe(
    "sk-1",
  );
});

test("without a tenant's name it explains itself and fails", async () => {
  await expect(provision([])).rejects.toMatchObject({ code: 2, stdout: expect.stringContaining("--tenant NAME") });
});

test.each([
  [["--provider-kind", "magic"], "--provider-kind is one of"],
  [["--provider-kind", "openai-compatible"], "--base-url is needed"],
  [["--model", "my-model"], "--context-limit is needed: the window of my-model"],
  [["--post-processing", "tidy"], "--post-processing is one of"],
  [["--context-limit", "many"], "--context-limit is a whole number"],
  [["--api-key-env", "NOT_SET_ANYWHERE"], "NOT_SET_ANYWHERE"],
])("%s is refused by its name", async (args, text) => {
  await expect(provision(["--tenant", "X", ...args])).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(text),
  });
});

async function provision(args: readonly string[]): Promise<{ readonly [name: string]: string }> {
  const script = new URL("provision.ts", import.meta.url).pathname;
  const { stdout } = await run(
    process.execPath,
    ["--conditions=shiftwork-source", "--import", "tsx", script, ...args],
    {
      env: {
        ...process.env,
        DATABASE_URL: api.url,
        API_KEY_PEPPER: PEPPER,
        MASTER_KEY: masterKey.toString("base64"),
        UPSTREAM: "sk-1",
      },
    },
  );
  return JSON.parse(stdout);
}

function uuid(kind: "tenant" | "provider", id: string | undefined): string {
  return decodeId(kind, id ?? "") ?? "";
}

test("an admin key is printed once and works for every tenant, without their texts", async () => {
  const made = await provision(["--admin-key", "operations"]);
  expect(made["adminKeyId"]).toMatch(/^adm_/);
  const key = made["apiKey"] ?? "";
  const headers = { "x-tenant-id": "*" };
  expect((await api.call("GET", "/api/v2/generations", { key, headers })).status).toBe(200);
  expect((await api.call("GET", "/api/v2/workers", { key })).status).toBe(200);
  const { id } = await api.newTenant();
  const inTenant = { "x-tenant-id": encodeId("tenant", id) };
  expect((await api.call("GET", "/api/v2/chats", { key, headers: inTenant })).status).toBe(403);
  const reader = (await provision(["--admin-key", "support", "--with-content"]))["apiKey"] ?? "";
  expect((await api.call("GET", "/api/v2/chats", { key: reader, headers: inTenant })).status).toBe(200);
});

test("a tenant and an admin key are not made at once", async () => {
  await expect(provision(["--tenant", "X", "--admin-key", "Y"])).rejects.toMatchObject({ code: 2 });
});
