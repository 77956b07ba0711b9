import type { Claim } from "@shiftwork/db";
import { newId } from "@shiftwork/db";
import { openFrameWriter, type FrameWriter } from "@shiftwork/platform";
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { claimRun, endRun } from "../testing/act-as-worker.ts";
import { openApi, type ApiUnderTest, type TestTenant } from "../testing/api-under-test.ts";
import { openStream } from "../testing/read-stream.ts";

const redisUrl = inject("redisUrl");

describe.skipIf(redisUrl === null)("replies through Redis (needs one)", () => {
  let api: ApiUnderTest;
  let tenant: TestTenant;
  let base: string;
  let frames: FrameWriter;

  beforeAll(async () => {
    const server = { url: redisUrl ?? "", name: `test-${newId()}` };
    api = await openApi(inject("databaseUrl"), { heartbeatMs: 40, frames: server });
    frames = openFrameWriter({ ...server, retentionMs: 600_000, onError: () => {} });
    tenant = await api.newTenant();
    base = await api.app.listen({ port: 0, host: "127.0.0.1" });
  });
  afterAll(async () => {
    frames.close();
    await api.close();
  });

  async function newRun(): Promise<{ chat: string; id: string; run: Claim }> {
    const chat = (await api.call("POST", "/api/v2/chats", { key: tenant.key, body: {} })).body.id;
    const body = { message: "Hi" };
    const { id } = (await api.call("POST", `/api/v2/chats/${chat}/generations`, { key: tenant.key, body })).body;
    return { chat, id, run: await claimRun(api, tenant, id) };
  }
  const write = (run: Claim, afterSeq: number, text: string) =>
    vi.waitFor(() =>
      frames.append({ ...run, afterSeq, events: [{ type: "message.delta", data: { delta: text, index: 0 } }] }),
    );
  const follow = (id: string, after = 0) =>
    openStream(`${base}/api/v2/generations/${id}/events?after=${after}`, {
      headers: { authorization: `Bearer ${tenant.key}` },
    });

  test("are read as they come, and end with what the row says", async () => {
    const { id, run } = await newRun();
    const stream = await follow(id);
    await write(run, 2, "a");
    await stream.until((event) => event.id === "3");
    await write(run, 3, "b");
    await stream.until((event) => event.id === "4");
    await endRun(api, run, "completed", "ab", 4);
    const { events } = await stream.ended();
    expect(events.map(({ id: seq, event }) => `${seq} ${event}`)).toEqual([
      "1 generation.queued",
      "2 generation.started",
      "3 message.delta",
      "4 message.delta",
      "5 generation.completed",
    ]);
  });

  test("do not keep from its end who waits for that alone", async () => {
    const { id, run } = await newRun();
    const answer = api.call("GET", `/api/v2/generations/${id}?wait=30`, { key: tenant.key });
    await expect.poll(() => api.streams.size).toBe(1);
    await write(run, 2, "a");
    await endRun(api, run, "completed", "a", 3);
    expect((await answer).body).toMatchObject({ status: "completed" });
  });

  test("that were lost are told as a gap before the end", async () => {
    const { id, run } = await newRun();
    await endRun(api, run, "completed", "ab", 4);
    const { events } = await (await follow(id, 2)).ended();
    expect(events.map(({ id: seq, event }) => `${seq} ${event}`)).toEqual(["4 stream.gap", "5 generation.completed"]);
  });

  test("are gone with their chat, whether they had ended or not", async () => {
    const [ended, running] = [await newRun(), await newRun()];
    for (const { run } of [ended, running]) await write(run, 2, "secret");
    await endRun(api, ended.run, "completed", "secret", 3);
    for (const { chat } of [ended, running]) await api.call("DELETE", `/api/v2/chats/${chat}`, { key: tenant.key });
    for (const { run } of [ended, running]) {
      expect((await frames.seal({ ...run, fence: 0 })).events).toEqual([]);
      expect(await write(run, 3, "secret")).toBe(false);
    }
  });

  test("are gone with the message they became, and those of the chat's other replies stay", async () => {
    const { chat, id, run } = await newRun();
    await write(run, 2, "secret");
    await endRun(api, run, "completed", "secret", 3);
    const body = { message: "Go on" };
    const next = (await api.call("POST", `/api/v2/chats/${chat}/generations`, { key: tenant.key, body })).body;
    const other = await claimRun(api, tenant, next.id);
    await write(other, 2, "kept");
    await endRun(api, other, "completed", "kept", 3);
    const { targets } = (await api.call("GET", `/api/v2/generations/${id}`, { key: tenant.key })).body;
    const [target] = targets as { messageId: string }[];
    const path = `/api/v2/chats/${chat}/messages/${target?.messageId}`;
    expect((await api.call("DELETE", path, { key: tenant.key })).status).toBe(204);
    expect((await (await follow(id)).ended()).text).not.toContain("secret");
    expect(await write(run, 3, "secret")).toBe(false);
    expect((await (await follow(next.id)).ended()).text).toContain("kept");
  });
});
