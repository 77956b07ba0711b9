import { randomBytes } from "node:crypto";
import { decodeId, encodeId } from "@shiftwork/contracts";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { claimRun, endRun, prepareRun } from "../../testing/act-as-worker.ts";
import { openApi, type ApiUnderTest, type CallAnswer, type TestTenant } from "../../testing/api-under-test.ts";
import { countRows } from "../../testing/count-rows.ts";

let api: ApiUnderTest;
let tenant: TestTenant;
let chat: string;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"));
  tenant = await api.newTenant();
});
afterAll(() => api.close());
beforeEach(async () => {
  chat = (await post("/chats", {})).body.id;
});

const get = (path: string) => api.call("GET", `/api/v2${path}`, { key: tenant.key });
const post = (path: string, body?: unknown) => api.call("POST", `/api/v2${path}`, { key: tenant.key, body });
const generate = (body: object) => post(`/chats/${chat}/generations`, body);
const itemsOf = (answer: CallAnswer) => answer.body["items"] as { [key: string]: unknown }[];

describe("accept", () => {
  test("answers 202 with the place to look, and stores the message with the generation", async () => {
    const answer = await generate({ message: { content: "Hi", name: "Grace" }, metadata: { ticket: 7 } });
    expect(answer).toMatchObject({
      status: 202,
      body: { status: "queued", chatId: chat, model: "gpt-4o", error: null },
    });
    expect(answer.headers).toMatchObject({ location: `/api/v2/generations/${answer.body.id}`, "retry-after": "1" });
    expect((await get(`/generations/${answer.body.id}`)).body).toMatchObject({ metadata: { ticket: 7 } });
    expect(itemsOf(await get(`/chats/${chat}/messages`))).toMatchObject([
      { id: answer.body["inputMessageId"], role: "user", content: "Hi", name: "Grace" },
    ]);
  });

  test("a queued one tells its place in the tenant's line, which one that waits for another of its chat has not", async () => {
    const { key } = await api.newTenant();
    const call = (path: string, body?: unknown) =>
      api.call(body === undefined ? "GET" : "POST", `/api/v2${path}`, { key, body });
    const send = async (to: string, more = {}) =>
      (await call(`/chats/${to}/generations`, { message: "Hi", onBusy: "queue", ...more })).body.id;
    const [one, other] = [(await call("/chats", {})).body.id, (await call("/chats", {})).body.id];
    const ids = [await send(one), await send(one), await send(other, { priority: 1 })];
    const read = await Promise.all(ids.map((id) => call(`/generations/${id}`)));
    expect(read.map(({ body }) => body["queue"])).toMatchObject([{ position: 2 }, { position: null }, { position: 1 }]);
  });

  test("a long metadata value is stored and given back, and cannot be filtered by", async () => {
    const metadata = { note: randomBytes(10_000).toString("hex"), ticket: "7" };
    const { status, body } = await generate({ message: "x", metadata });
    expect(status).toBe(202);
    expect((await get(`/generations/${body.id}`)).body).toMatchObject({ metadata });
  });

  test("a second turn while one is active is refused with its id, however many come at once", async () => {
    const answers = await Promise.all([1, 2, 3, 4].map((n) => generate({ message: `m${n}` })));
    const accepted = answers.filter(({ status }) => status === 202);
    const refused = answers.filter(({ status }) => status === 409);
    expect([accepted.length, refused.length]).toEqual([1, 3]);
    for (const { body } of refused) {
      expect(body).toMatchObject({ code: "CHAT_BUSY", params: { generationId: accepted[0]?.body.id } });
    }
    expect(itemsOf(await get(`/chats/${chat}/messages`))).toHaveLength(1);
    expect((await post(`/chats/${chat}/messages`, { content: "x" })).body).toMatchObject({ code: "CHAT_BUSY" });
  });

  test("without a message, the last one must wait for a reply", async () => {
    expect(await generate({})).toMatchObject({ status: 400, body: { errors: [{ pointer: "/message" }] } });
    const message = await post(`/chats/${chat}/messages`, { content: "Hi" });
    expect((await generate({})).body).toMatchObject({ status: "queued", inputMessageId: message.body.id });
  });

  test.each([
    ["an action that is not there yet", { message: "x", action: "continue" }, "VALIDATION_FAILED", "/action"],
    ["a blank message", { message: "  " }, "VALIDATION_FAILED", "/message"],
    [
      "an unknown field inside the message",
      { message: { content: "x", mood: 1 } },
      "VALIDATION_FAILED",
      "/message/mood",
    ],
    ["a deadline that is too short", { message: "x", deadlineMs: 5 }, "VALIDATION_FAILED", "/deadlineMs"],
    ["a strategy nobody has", { message: "x", contextStrategy: "magic" }, "STRATEGY_UNKNOWN", "/contextStrategy"],
    ["a model of unknown window", { message: "x", model: "mystery-1" }, "MODEL_UNKNOWN", "/budget/contextLimit"],
    [
      "a negative reserve",
      { message: "x", budget: { reservedForReply: -1 } },
      "VALIDATION_FAILED",
      "/budget/reservedForReply",
    ],
    [
      "a window nobody offers",
      { message: "x", model: "mystery-1", budget: { contextLimit: 3_000_000_000 } },
      "VALIDATION_FAILED",
      "/budget/contextLimit",
    ],
    [
      "a parameter the service sets itself",
      { message: "x", parameters: { extra: { max_completion_tokens: 9 } } },
      "VALIDATION_FAILED",
      "/parameters/extra/max_completion_tokens",
    ],
    [
      "tools that would bypass the count",
      { message: "x", parameters: { extra: { tools: 5 } } },
      "VALIDATION_FAILED",
      "/parameters/extra/tools",
    ],
    [
      "more metadata than can be filtered by",
      { message: "x", metadata: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`k${n}`, n])) },
      "VALIDATION_FAILED",
      "/metadata",
    ],
    [
      "more stop strings than providers take",
      { message: "x", parameters: { stop: ["a", "b", "c", "d", "e"] } },
      "VALIDATION_FAILED",
      "/parameters/stop",
    ],
    ["a window of 0", { message: "x", budget: { contextLimit: 0 } }, "VALIDATION_FAILED", "/budget/contextLimit"],
    [
      "more reply than window",
      { message: "x", parameters: { maxTokens: 9_000 } },
      "VALIDATION_FAILED",
      "/parameters/maxTokens",
    ],
  ])("%s is refused by the field's name and leaves no row", async (_case, body, code, pointer) => {
    const before = await countRows(api.admin);
    expect((await generate(body)).body).toMatchObject({ code, errors: [{ pointer }] });
    expect(await countRows(api.admin)).toEqual(before);
  });

  test("a full queue sheds the turn and says when to come back", async () => {
    const small = await api.newTenant({ maxQueued: 1 });
    const send = async () => {
      const { id } = (await api.call("POST", "/api/v2/chats", { key: small.key, body: {} })).body;
      return api.call("POST", `/api/v2/chats/${id}/generations`, { key: small.key, body: { message: "x" } });
    };
    expect((await send()).status).toBe(202);
    const shed = await send();
    expect(shed).toMatchObject({ status: 429, body: { code: "QUEUE_FULL", retryable: true } });
    expect(shed.headers["retry-after"]).toBe("5");
  });

  test("a promise made on another state of the chat is refused", async () => {
    const assembly = { hash: null, seed: "s", now: "2026-01-01T00:00:00.000Z", chatRevision: 5 };
    expect(await generate({ message: "x", assembly })).toMatchObject({
      status: 409,
      body: { code: "ASSEMBLY_CHANGED" },
    });
    const kept = await generate({ message: "x", assembly: { ...assembly, chatRevision: 0 } });
    expect(kept.body).toMatchObject({ status: "queued", seed: "s" });
  });

  test("the chat's settings choose model and window unless the request does", async () => {
    const settings = { model: "gpt-4.1", contextLimit: 500 };
    const other = (await post("/chats", { settings })).body.id;
    const answer = await post(`/chats/${other}/generations`, { message: "x", parameters: { maxTokens: 600 } });
    expect(answer.body).toMatchObject({ code: "VALIDATION_FAILED", errors: [{ pointer: "/parameters/maxTokens" }] });
    const sent = await post(`/chats/${other}/generations`, { message: "x" });
    expect(sent.body).toMatchObject({ status: "queued", model: "gpt-4.1" });
  });
});

describe("cancel", () => {
  test("a queued generation is cancelled at once and leaves the queue; again is the same answer", async () => {
    const { id } = (await generate({ message: "x" })).body;
    const answer = await post(`/generations/${id}/cancel`, { reason: "changed my mind" });
    expect(answer).toMatchObject({ status: 200, body: { status: "cancelled" } });
    expect(api.removedJobs).toContainEqual({ generationId: decodeId("generation", id), epoch: 0 });
    expect(await post(`/generations/${id}/cancel`)).toEqual(
      expect.objectContaining({ status: 200, body: answer.body }),
    );
  });

  test("a running one is being cancelled until its worker has stopped", async () => {
    const { id } = (await generate({ message: "x" })).body;
    const run = await claimRun(api, tenant, id);
    expect(await post(`/generations/${id}/cancel`)).toMatchObject({ status: 202, body: { status: "cancelling" } });
    expect(await post(`/generations/${id}/cancel`)).toMatchObject({ status: 202, body: { status: "cancelling" } });
    await endRun(api, run, "completed", "too late");
    expect((await get(`/generations/${id}`)).body).toMatchObject({ status: "cancelled" });
    expect(await post(`/generations/${id}/cancel`)).toMatchObject({ status: 200, body: { status: "cancelled" } });
  });

  test("what has ended otherwise cannot be cancelled", async () => {
    const { id } = (await generate({ message: "x" })).body;
    await endRun(api, await claimRun(api, tenant, id), "completed", "Hello");
    expect(await post(`/generations/${id}/cancel`)).toMatchObject({
      status: 409,
      body: { code: "GENERATION_ALREADY_FINISHED", params: { status: "completed" } },
    });
  });
});

describe("retry", () => {
  test("a failed turn runs again on the same message, model and seed; its partial text stays beside the reply", async () => {
    const first = (await generate({ message: "x", metadata: { a: "b" }, deadlineMs: 5_000 })).body;
    await endRun(api, await claimRun(api, tenant, first.id), "failed", "Hal");
    const again = await post(`/generations/${first.id}/retry`, { mode: "rebuild" });
    expect(again).toMatchObject({ status: 202, body: { retryOf: first.id, status: "queued", metadata: { a: "b" } } });
    expect(again.body).toMatchObject({ seed: first["seed"], inputMessageId: first["inputMessageId"] });
    await endRun(api, await claimRun(api, tenant, again.body.id), "completed", "Hello");
    const replies = itemsOf(await get(`/chats/${chat}/messages?variants=all`)).slice(1);
    expect(replies.map(({ seq, content, active, failed }) => [seq, content, active, failed])).toEqual([
      [2, "Hal", false, true],
      [2, "Hello", true, false],
    ]);
  });

  test("an active one is busy, a completed one has ended, one the chat has left behind is in conflict", async () => {
    const first = (await generate({ message: "x" })).body;
    expect((await post(`/generations/${first.id}/retry`)).body).toMatchObject({ code: "CHAT_BUSY" });
    await post(`/generations/${first.id}/cancel`);
    await post(`/chats/${chat}/messages`, { content: "never mind" });
    expect((await post(`/generations/${first.id}/retry`)).body).toMatchObject({ code: "CONFLICT" });
    const second = (await generate({})).body;
    await endRun(api, await claimRun(api, tenant, second.id), "completed", "Hello");
    expect((await post(`/generations/${second.id}/retry`)).body).toMatchObject({ code: "GENERATION_ALREADY_FINISHED" });
  });

  test("replay keeps the very request of the audit for the worker, key for key, also of a run that is a replay", async () => {
    const first = (await generate({ message: "x" })).body.id;
    const run = await claimRun(api, tenant, first);
    expect(run.replay).toBeNull();
    const sent = await prepareRun(api, run);
    await endRun(api, run, "failed", "Hal");
    const again = await post(`/generations/${first}/retry`, { mode: "replay" });
    expect(again).toMatchObject({ status: 202, body: { retryOf: first, status: "queued" } });
    const replayed = await claimRun(api, tenant, again.body.id);
    expect(JSON.stringify(replayed.replay)).toBe(JSON.stringify(sent));
    await endRun(api, replayed, "failed", "");
    const third = await claimRun(
      api,
      tenant,
      (await post(`/generations/${again.body.id}/retry`, { mode: "replay" })).body.id,
    );
    expect(JSON.stringify(third.replay)).toBe(JSON.stringify(sent));
    await endRun(api, third, "completed", "Hello");
    const replies = itemsOf(await get(`/chats/${chat}/messages?variants=all`)).slice(1);
    expect(replies.map(({ content, active }) => [content, active])).toEqual([
      ["Hal", false],
      ["Hello", true],
    ]);
  });

  test("replay of an audit that was replaced, or never made, is refused and leaves nothing", async () => {
    const never = (await generate({ message: "x" })).body.id;
    await post(`/generations/${never}/cancel`);
    const refused = await post(`/generations/${never}/retry`, { mode: "replay" });
    expect(refused).toMatchObject({
      status: 409,
      body: { code: "AUDIT_NOT_AVAILABLE", errors: [{ pointer: "/mode" }] },
    });
    const first = await claimRun(api, tenant, (await post(`/generations/${never}/retry`)).body.id);
    await prepareRun(api, first);
    await endRun(api, first, "failed", "");
    const second = await claimRun(api, tenant, (await post(`/generations/${never}/retry`)).body.id);
    await prepareRun(api, second);
    await endRun(api, second, "failed", "");
    const replaced = encodeId("generation", first.generationId);
    expect((await post(`/generations/${replaced}/retry`, { mode: "replay" })).body).toMatchObject({
      code: "AUDIT_NOT_AVAILABLE",
    });
    expect((await post(`/generations/${replaced}/retry`, { mode: "again" })).body).toMatchObject({
      code: "VALIDATION_FAILED",
      errors: [{ pointer: "/mode" }],
    });
    expect((await get(`/generations?chatId=${chat}&status=queued`)).body["items"]).toEqual([]);
  });
});

describe("list", () => {
  test("newest first, filtered by chat, status, model and error", async () => {
    const first = (await generate({ message: "x" })).body.id;
    await endRun(api, await claimRun(api, tenant, first), "failed", "");
    const second = (await generate({ message: "y" })).body.id;
    const idsOf = async (query: string) =>
      itemsOf(await get(`/generations?chatId=${chat}${query}`)).map(({ id }) => id);
    expect(await idsOf("")).toEqual([second, first]);
    expect(await idsOf("&status=failed")).toEqual([first]);
    expect(await idsOf("&errorCode=PROVIDER_TIMEOUT")).toEqual([first]);
    expect(await idsOf("&model=other")).toEqual([]);
    expect(await idsOf("&limit=1")).toEqual([second]);
  });
});

describe("delete a chat", () => {
  test("takes every text with it, cancels what is active, and keeps the numbers", async () => {
    const secret = "the word nobody may find again";
    const done = (await generate({ message: secret, metadata: { secret } })).body.id;
    await endRun(api, await claimRun(api, tenant, done), "completed", secret);
    await post("/memories", { chatId: chat, content: secret });
    const stopped = (await generate({ message: secret })).body.id;
    await post(`/generations/${stopped}/cancel`, { reason: secret });
    const active = (await generate({ message: secret })).body.id;
    const answer = await api.call("DELETE", `/api/v2/chats/${chat}`, { key: tenant.key });
    expect(answer.status).toBe(204);
    expect((await get(`/generations/${done}`)).body).toMatchObject({
      status: "completed",
      chatId: null,
      metadata: null,
    });
    expect((await get(`/generations/${active}`)).body).toMatchObject({ status: "cancelled", chatId: null });
    expect(api.removedJobs).toContainEqual({ generationId: decodeId("generation", active), epoch: 0 });
    expect(await tablesHolding(secret)).toEqual([]);
    expect((await get(`/chats/${chat}`)).status).toBe(404);
    expect((await api.call("DELETE", `/api/v2/chats/${chat}`, { key: tenant.key })).status).toBe(404);
    expect((await post(`/generations/${active}/retry`)).body).toMatchObject({ code: "CONFLICT" });
  });
});

async function tablesHolding(text: string): Promise<readonly string[]> {
  return api.admin.client.begin(async (tx) => {
    await tx`set local role none`;
    const holding: string[] = [];
    for (const table of Object.keys(await countRows(api.admin))) {
      const [found] = await tx`select from ${tx(table)} as row where position(${text} in row::text) > 0 limit 1`;
      if (found) holding.push(table);
    }
    return holding;
  });
}
