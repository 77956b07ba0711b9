import { once } from "node:events";
import { createServer, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { decodeId, type NewEvent } from "@shiftwork/contracts";
import { openPostgresEventLog } from "@shiftwork/platform";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, onTestFinished, test } from "vitest";
import { waitForEnd } from "../../events/wait-for-end.ts";
import { claimRun, emit, endRun } from "../../testing/act-as-worker.ts";
import { openApi, type ApiUnderTest, type TestTenant } from "../../testing/api-under-test.ts";

const lines: string[] = [];
let api: ApiUnderTest;
let tenant: TestTenant;
let chat: string;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"), { onLogLine: (line) => lines.push(line) });
  tenant = await api.newTenant();
});
afterAll(() => api.close());
beforeEach(async () => {
  chat = (await api.call("POST", "/api/v2/chats", { key: tenant.key, body: {} })).body.id;
});

const get = (path: string) => api.call("GET", `/api/v2${path}`, { key: tenant.key });
const send = (wait: string, headers = {}) =>
  api.call("POST", `/api/v2/chats/${chat}/generations`, {
    key: tenant.key,
    body: { message: "Hi" },
    headers: { prefer: wait, ...headers },
  });
const delta: NewEvent = { type: "message.delta", data: { delta: "a", index: 0 } };

/** The generation of the chat, as soon as somebody waits for it. */
async function awaited(): Promise<string> {
  await expect.poll(() => api.streams.size).toBe(1);
  const list = await get(`/generations?chatId=${chat}`);
  return (list.body["items"] as { id: string }[])[0]?.id ?? "";
}

describe("Prefer: wait", () => {
  test("answers 200 with the generation once it has completed", async () => {
    const answer = send("wait=30");
    const run = await claimRun(api, tenant, await awaited());
    await emit(api, run, [delta]);
    await endRun(api, run, "completed", "Hello");
    expect(await answer).toMatchObject({ status: 200, body: { status: "completed", finishReason: "stop" } });
    expect((await answer).headers).toMatchObject({ "preference-applied": "wait=30", location: expect.any(String) });
    expect((await answer).headers["retry-after"]).toBeUndefined();
    expect(api.streams.size).toBe(0);
  });

  test("answers 202 when the time has run out first", async () => {
    const answer = await send("wait=1");
    expect(answer).toMatchObject({ status: 202, body: { status: "queued" } });
    expect(answer.headers).toMatchObject({ "preference-applied": "wait=1", "retry-after": "1" });
  });

  test("answers a failure with its problem and the status of its code", async () => {
    const answer = send("wait=30");
    const id = await awaited();
    await endRun(api, await claimRun(api, tenant, id), "failed", "Hal");
    expect(await answer).toMatchObject({
      status: 504,
      body: { code: "PROVIDER_TIMEOUT", retryable: true, params: { generationId: id, messageId: expect.any(String) } },
    });
    expect((await answer).headers["location"]).toBe(`/api/v2/generations/${id}`);
    // The request itself went well: who ran the generation has logged what became of it.
    expect(lines.map((line) => JSON.parse(line)).filter(({ level }) => level === "error")).toEqual([]);
  });

  test("answers 409 GENERATION_CANCELLED when it was cancelled", async () => {
    const answer = send("wait=30");
    const id = await awaited();
    await api.call("POST", `/api/v2/generations/${id}/cancel`, { key: tenant.key });
    expect(await answer).toMatchObject({
      status: 409,
      body: { code: "GENERATION_CANCELLED", params: { generationId: id } },
    });
  });

  test("a repeat with the same Idempotency-Key waits for the same generation", async () => {
    const headers = { "idempotency-key": `wait-${chat}` };
    const first = send("wait=30", headers);
    const id = await awaited();
    const repeat = send("wait=30", headers);
    await expect.poll(() => api.streams.size).toBe(2);
    await endRun(api, await claimRun(api, tenant, id), "completed", "Hello");
    expect(await first).toMatchObject({ status: 200, body: { id } });
    expect(await repeat).toMatchObject({ status: 200, body: { id } });
    expect((await repeat).headers["idempotency-replayed"]).toBe("true");
  });
});

test("nobody is waited for who left before the waiting began", async () => {
  const { id } = (await send("")).body;
  const eventLog = await openPostgresEventLog(api.database);
  onTestFinished(() => eventLog.close());
  const wait = { tenantId: tenant.id, generationId: decodeId("generation", id) ?? "", waitMs: 60_000 };
  await waitForEnd({ db: api.database.db, eventLog, streams: api.streams }, { ...wait, reply: { raw: await left() } });
  expect((await get(`/generations/${id}`)).body["status"]).toBe("queued");
  expect(api.streams.size).toBe(0);
});

/** The answer to a client that has left, as the server holds it. */
async function left(): Promise<ServerResponse> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = request({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" }).on("error", () => {});
  const response = await new Promise<ServerResponse>((resolve) => {
    server.once("request", (_request, answer) => resolve(answer));
    client.end();
  });
  const closed = once(response, "close");
  client.destroy();
  await closed;
  server.close();
  return response;
}

describe("GET with ?wait=", () => {
  test("answers as soon as the generation has ended, however it ended", async () => {
    const { id } = (await send("")).body;
    const answer = get(`/generations/${id}?wait=30`);
    await expect.poll(() => api.streams.size).toBe(1);
    await endRun(api, await claimRun(api, tenant, id), "failed", "");
    expect(await answer).toMatchObject({
      status: 200,
      body: { status: "failed", error: { code: "PROVIDER_TIMEOUT" } },
    });
    expect(await get(`/generations/${id}?wait=30`)).toMatchObject({ status: 200, body: { status: "failed" } });
  });

  test("answers what there is when the time has run out", async () => {
    const { id } = (await send("")).body;
    expect(await get(`/generations/${id}?wait=1`)).toMatchObject({ status: 200, body: { status: "queued" } });
  });

  test("deleting the chat ends the waiting", async () => {
    const { id } = (await send("")).body;
    const answer = get(`/generations/${id}?wait=30`);
    await expect.poll(() => api.streams.size).toBe(1);
    await api.call("DELETE", `/api/v2/chats/${chat}`, { key: tenant.key });
    expect(await answer).toMatchObject({ status: 200, body: { status: "cancelled", chatId: null } });
  });

  test("another tenant's generation is missing, and not waited for", async () => {
    const { id } = (await send("")).body;
    const stranger = await api.newTenant();
    const answer = await api.call("GET", `/api/v2/generations/${id}?wait=30`, { key: stranger.key });
    expect(answer).toMatchObject({ status: 404, body: { code: "GENERATION_NOT_FOUND" } });
  });

  test.each(["61", "-1", "soon"])("?wait=%s is refused", async (wait) => {
    const { id } = (await send("")).body;
    expect(await get(`/generations/${id}?wait=${wait}`)).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: "/wait" }] },
    });
  });
});

// Last: afterwards this API holds nothing back.
test("a drain ends the waiting with what there is", async () => {
  const answer = send("wait=30");
  await awaited();
  api.streams.endAll();
  expect(await answer).toMatchObject({ status: 202, body: { status: "queued" } });
});
