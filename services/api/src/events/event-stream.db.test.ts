import { decodeId, GenerationStreamEvent, type NewEvent } from "@shiftwork/contracts";
import { afterAll, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { claimRun, emit, endRun } from "../testing/act-as-worker.ts";
import { openApi, type ApiUnderTest, type TestTenant } from "../testing/api-under-test.ts";
import { openStream, type SentEvent } from "../testing/read-stream.ts";

let api: ApiUnderTest;
let tenant: TestTenant;
let base: string;
let chat: string;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"), { heartbeatMs: 40 });
  tenant = await api.newTenant();
  base = await api.app.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(() => api.close());
beforeEach(async () => {
  chat = (await api.call("POST", "/api/v2/chats", { key: tenant.key, body: {} })).body.id;
});

const auth = () => ({ authorization: `Bearer ${tenant.key}` });
const delta = (text: string, index: number): NewEvent => ({ type: "message.delta", data: { delta: text, index } });
const generate = async () => {
  const path = `/api/v2/chats/${chat}/generations`;
  return (await api.call("POST", path, { key: tenant.key, body: { message: "Hi" } })).body.id;
};
const follow = (id: string, query = "", headers = {}) =>
  openStream(`${base}/api/v2/generations/${id}/events${query}`, { headers: { ...auth(), ...headers } });
const namesOf = (events: readonly SentEvent[]) => events.map(({ event }) => event);
const seqsOf = (events: readonly SentEvent[]) => events.map(({ id }) => Number(id));
const isDelta = ({ event }: SentEvent) => event === "message.delta";

test("a turn sent with Accept: text/event-stream is streamed from the first to the terminal event", async () => {
  const stream = await openStream(`${base}/api/v2/chats/${chat}/generations`, {
    method: "POST",
    body: { message: "Hi" },
    headers: { ...auth(), "idempotency-key": `sse-${chat}` },
  });
  expect(stream.status).toBe(200);
  expect(stream.headers).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    "x-api-version": "2",
    location: expect.stringContaining("/api/v2/generations/gen_"),
  });
  const [queued] = await stream.until(({ event }) => event === "generation.queued");
  const { generationId } = GenerationStreamEvent.parse(JSON.parse(queued?.data ?? ""));
  const run = await claimRun(api, tenant, generationId);
  await emit(api, run, [delta("Hel", 0)]);
  await stream.until(isDelta);
  await emit(api, run, [delta("lo", 3)]);
  await endRun(api, run, "completed", "Hello");
  const { events, retries } = await stream.ended();
  expect(namesOf(events)).toEqual([
    "generation.queued",
    "generation.started",
    "message.delta",
    "message.delta",
    "generation.completed",
  ]);
  expect(seqsOf(events)).toEqual([1, 2, 3, 4, 5]);
  expect(retries).toEqual([2_000]);
  for (const { event, id, data } of events) {
    const parsed = GenerationStreamEvent.parse(JSON.parse(data));
    expect(parsed).toMatchObject({ type: event, seq: Number(id), generationId });
  }
  expect(JSON.parse(events.at(-1)?.data ?? "")).toMatchObject({
    status: "completed",
    messageId: expect.stringMatching(/^msg_/),
  });
});

test("a repeat with the same Idempotency-Key attaches to the same stream from its beginning", async () => {
  const options = {
    method: "POST",
    body: { message: "Hi" },
    headers: { ...auth(), "idempotency-key": `again-${chat}` },
  };
  const url = `${base}/api/v2/chats/${chat}/generations`;
  const first = await openStream(url, options);
  const [queued] = await first.until(() => true);
  const { generationId } = JSON.parse(queued?.data ?? "");
  const second = await openStream(url, options);
  expect(second.headers["idempotency-replayed"]).toBe("true");
  await endRun(api, await claimRun(api, tenant, generationId), "completed", "Hello");
  expect((await second.ended()).events).toEqual((await first.ended()).events);
});

test("a reader resumes behind the last event it saw, by header or by query, and misses nothing", async () => {
  const id = await generate();
  const run = await claimRun(api, tenant, id);
  await emit(api, run, [delta("a", 0), delta("b", 1)]);
  const early = await follow(id);
  await early.until((event) => event.id === "3");
  early.leave();
  await emit(api, run, [delta("c", 2)]);
  const byHeader = await follow(id, "?after=1", { "last-event-id": "3" });
  const byQuery = await follow(id, "?after=3");
  await endRun(api, run, "completed", "abc");
  expect(seqsOf((await byHeader.ended()).events)).toEqual([4, 5, 6]);
  expect(seqsOf((await byQuery.ended()).events)).toEqual([4, 5, 6]);
});

test("a finished generation is told again to a new reader, and not to one that has seen it all", async () => {
  const id = await generate();
  await endRun(api, await claimRun(api, tenant, id), "failed", "Hal");
  expect(namesOf((await (await follow(id)).ended()).events)).toEqual([
    "generation.queued",
    "generation.started",
    "generation.failed",
  ]);
  expect((await (await follow(id, "?after=3")).ended()).events).toEqual([]);
  expect((await (await follow(id, "?after=99")).ended()).events).toEqual([]);
});

test("when events have expired the reader is told of the gap, and of the end from the row", async () => {
  const id = await generate();
  await endRun(api, await claimRun(api, tenant, id), "completed", "Hello");
  await forget(id, 99);
  const { events } = await (await follow(id, "?after=1")).ended();
  expect(namesOf(events)).toEqual(["stream.gap", "generation.completed"]);
  expect(JSON.parse(events[1]?.data ?? "")).toMatchObject({
    status: "completed",
    messageId: expect.stringMatching(/^msg_/),
  });
});

test("when a crash has taken the end alone, the reader is told of it from the row behind what is left", async () => {
  const id = await generate();
  const run = await claimRun(api, tenant, id);
  await emit(api, run, [delta("Hello", 0)]);
  await endRun(api, run, "completed", "Hello");
  await forget(id, 4, 4);
  const { events } = await (await follow(id, "?after=2")).ended();
  expect(events.map((event) => `${event.id} ${event.event}`)).toEqual([
    "3 message.delta",
    "4 stream.gap",
    "5 generation.completed",
  ]);
});

test("when only the oldest events have expired the gap names them", async () => {
  const id = await generate();
  await endRun(api, await claimRun(api, tenant, id), "completed", "Hello");
  await forget(id, 2);
  const { events } = await (await follow(id)).ended();
  expect(namesOf(events)).toEqual(["stream.gap", "generation.completed"]);
  expect(JSON.parse(events[0]?.data ?? "")).toMatchObject({ from: 1, to: 2 });
});

test("when an event in the middle was lost the gap is told in its place", async () => {
  const id = await generate();
  const run = await claimRun(api, tenant, id);
  await emit(api, run, [delta("a", 0), delta("b", 1), delta("c", 2)]);
  await forget(id, 4, 4);
  await endRun(api, run, "completed", "abc");
  const { events } = await (await follow(id, "?after=2")).ended();
  expect(events.map((event) => `${event.id} ${event.event}`)).toEqual([
    "3 message.delta",
    "4 stream.gap",
    "5 message.delta",
    "6 generation.completed",
  ]);
});

test("silence is filled with comments", async () => {
  const stream = await follow(await generate());
  const path = `/api/v2/chats/${chat}`;
  await stream.until(() => true);
  await pinged(stream);
  await api.call("DELETE", path, { key: tenant.key });
  expect((await stream.ended()).text).toContain(": ping\n\n");
});

test("deleting the chat ends the stream with its cancellation", async () => {
  const id = await generate();
  const run = await claimRun(api, tenant, id);
  await emit(api, run, [delta("a", 0)]);
  const stream = await follow(id);
  await stream.until(isDelta);
  await api.call("DELETE", `/api/v2/chats/${chat}`, { key: tenant.key });
  expect(namesOf((await stream.ended()).events).slice(-2)).toEqual(["stream.gap", "generation.cancelled"]);
});

test("a reader that leaves is forgotten, its generation goes on", async () => {
  const before = api.streams.size;
  const id = await generate();
  const stream = await follow(id);
  await stream.until(() => true);
  expect(api.streams.size).toBe(before + 1);
  stream.leave();
  await expect.poll(() => api.streams.size).toBe(before);
  expect((await api.call("GET", `/api/v2/generations/${id}`, { key: tenant.key })).body).toMatchObject({
    status: "queued",
  });
});

test("a last event id that is no number is refused before the stream begins", async () => {
  const id = await generate();
  const stream = await follow(id, "", { "last-event-id": "x" });
  expect(stream.status).toBe(400);
});

// Last: afterwards this API takes no more streams.
test("a drain ends streams with retry, so that clients reconnect elsewhere", async () => {
  const stream = await follow(await generate());
  await stream.until(() => true);
  api.streams.endAll();
  const { retries, events } = await stream.ended();
  expect(retries).toEqual([2_000, 2_000]);
  expect(namesOf(events)).toEqual(["generation.queued"]);
});

async function forget(id: string, upTo: number, from = 1): Promise<void> {
  const uuid = decodeId("generation", id) ?? "";
  await api.admin.client.begin(async (tx) => {
    await tx`set local role none`;
    await tx`delete from generation_events where generation_id = ${uuid} and seq between ${from} and ${upTo}`;
  });
}

/** Two events apart by a heartbeat prove that one passed. */
async function pinged(stream: Awaited<ReturnType<typeof follow>>): Promise<void> {
  await expect.poll(() => stream.textSoFar()).toContain(": ping");
}
