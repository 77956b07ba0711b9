import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ALL_TENANT_SCOPES, decodeId } from "@shiftwork/contracts";
import { insertApiKey, insertProvider, insertTenant, newId, openDatabase, withTenant } from "@shiftwork/db";
import { openTestDatabase, type TestDatabase } from "@shiftwork/db/testing";
import { startFakeOpenAi, type FakeOpenAi } from "@shiftwork/providers/testing";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { makeApiKey } from "../services/api/src/auth/api-key.ts";
import { openStream, type ReadStream, type SentEvent } from "../services/api/src/testing/read-stream.ts";
import { sendToRedis } from "./chaos/servers.ts";
import { createService, type Service } from "./chaos/service-process.ts";

const redisUrl = inject("redisUrl");

const PEPPER = "pepper of the event log's test";
const textOf = (events: readonly SentEvent[]) =>
  events.map(({ event, data }) => (event === "message.delta" ? JSON.parse(data).delta : "")).join("");
const idsOf = (events: readonly SentEvent[]) => events.map(({ id }) => Number(id));
const says = (text: string) => (sent: SentEvent) =>
  sent.event === "message.delta" && JSON.parse(sent.data).delta === text;

describe.skipIf(redisUrl === null)("an installation with Redis (needs one)", () => {
  let test: TestDatabase;
  let fake: FakeOpenAi;
  let api: Service;
  let base: string;
  let env: Record<string, string>;
  let authorization: string;
  let tenantId: string;
  const logFolder = mkdtempSync(join(tmpdir(), "shiftwork-test-logs-"));
  const workers: Service[] = [];

  beforeAll(async () => {
    test = await openTestDatabase(inject("databaseUrl"));
    env = {
      DATABASE_URL: test.url,
      REDIS_URL: redisUrl ?? "",
      QUEUE_NAME: `e2e-${newId()}`,
      MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
      API_KEY_PEPPER: PEPPER,
    };
    const port = await freePort();
    base = `http://127.0.0.1:${port}/api/v2`;
    api = serviceOf("api", { PORT: String(port), DRAIN_TIMEOUT_MS: "500" });
    await api.start();
  });
  beforeEach(async () => {
    fake = await startFakeOpenAi({
      script: [
        { kind: "words", words: ["One ", "two ", "three"], gated: true },
        { kind: "words", words: ["Once ", "more."] },
      ],
    });
    authorization = `Bearer ${await newTenant(fake.baseUrl)}`;
  });
  afterEach(async () => {
    for (const worker of workers.splice(0)) await worker.end("SIGKILL");
    await fake.close();
  });
  afterAll(async () => {
    await api.end("SIGKILL");
    await test.drop();
    rmSync(logFolder, { recursive: true, force: true });
  });

  function serviceOf(service: "api" | "worker", more: Record<string, string>): Service {
    const name = `${service}-${newId()}`;
    return createService({ name, service, env: { ...env, ...more }, logFolder, onDeath: () => {} });
  }

  async function startWorker(): Promise<Service> {
    const times = { HEARTBEAT_MS: "50", WORKER_DEAD_AFTER_MS: "1000", LEASE_MS: "600", FRAME_MS: "5" };
    const worker = serviceOf("worker", { ...times, DISPATCH_INTERVAL_MS: "50", RECONCILE_INTERVAL_MS: "50" });
    workers.push(worker);
    await worker.start();
    return worker;
  }

  async function newTenant(baseUrl: string): Promise<string> {
    const admin = openDatabase({ url: test.url, role: "shiftwork_admin", maxConnections: 1, applicationName: "test" });
    tenantId = newId();
    const { key, keyId, secretHash } = makeApiKey("live", PEPPER);
    await withTenant(admin.db, tenantId, async (tx) => {
      await insertTenant(tx, { id: tenantId, name: "test" });
      const models = [{ model: "gpt-4o", contextLimit: 8_192, maxOutputTokens: null }];
      const provider = { name: "fake", kind: "openai-compatible", baseUrl, secret: null, allowPrivateNetwork: true };
      await insertProvider(tx, tenantId, { id: newId(), ...provider, models });
      await insertApiKey(tx, tenantId, { id: newId(), keyId, secretHash, name: "test", scopes: ALL_TENANT_SCOPES });
    });
    await admin.close();
    return key;
  }

  const post = (path: string, body: unknown): Promise<ReadStream> =>
    openStream(`${base}${path}`, { method: "POST", body, headers: { authorization } });
  async function repliesOf(chat: string): Promise<readonly string[]> {
    const answer = await fetch(`${base}/chats/${chat}/messages`, { headers: { authorization } });
    const { items } = (await answer.json()) as { items: readonly { role: string; content: string }[] };
    return items.filter(({ role }) => role === "assistant").map(({ content }) => content);
  }

  async function newTurn() {
    const created = await fetch(`${base}/chats`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body: "{}",
    });
    const { id: chat } = (await created.json()) as { id: string };
    const stream = await post(`/chats/${chat}/generations`, { message: "Count." });
    const [queued] = await stream.until(() => true);
    const { generationId: id } = JSON.parse(queued?.data ?? "{}") as { generationId: string };
    return { id, stream, replies: () => repliesOf(chat) };
  }
  const follow = (id: string, after: number) =>
    openStream(`${base}/generations/${id}/events`, { headers: { authorization, "last-event-id": String(after) } });

  it("a turn is streamed, left, resumed behind the last event seen, and read again, without a hole", async () => {
    await startWorker();
    const { id, stream, replies } = await newTurn();
    const call = await fake.received(0);
    for (const word of ["One ", "two "]) {
      call.next();
      await stream.until(says(word));
    }
    const seen = await stream.until(says("two "));
    stream.leave();
    const resumed = await follow(id, Number(seen.at(-1)?.id));
    call.finish();
    const rest = (await resumed.ended()).events;
    expect(idsOf([...seen, ...rest])).toEqual(Array.from({ length: seen.length + rest.length }, (_, n) => n + 1));
    expect(textOf([...seen, ...rest])).toBe("One two three");
    expect(rest.at(-1)?.event).toBe("generation.completed");
    expect((await (await follow(id, 0)).ended()).events).toEqual([...seen, ...rest]);
    expect(await replies()).toEqual(["One two three"]);
  });

  /** Two words streamed, then the worker is killed, `meanwhile` happens, and another worker comes. */
  async function killInTheMiddle(meanwhile: (id: string) => Promise<void>) {
    const first = await startWorker();
    const { id, stream, replies } = await newTurn();
    const call = await fake.received(0);
    for (const word of ["One ", "two "]) {
      call.next();
      await stream.until(says(word));
    }
    await first.end("SIGKILL");
    await meanwhile(id);
    await startWorker();
    const { events } = await stream.ended();
    const retrying = events.findIndex(({ event }) => event === "generation.retrying");
    expect(JSON.parse(events[retrying]?.data ?? "{}")).toMatchObject({ resetOutput: true });
    expect(textOf(events.slice(0, retrying))).toBe("One two ");
    expect(textOf(events.slice(retrying))).toBe("Once more.");
    expect(await replies()).toEqual(["Once more."]);
    return { id, events, retrying };
  }

  it("a worker killed in the middle of a reply costs its readers a reset, and no event", async () => {
    const { id, events } = await killInTheMiddle(async () => {});
    expect(idsOf(events)).toEqual(events.map((_, n) => n + 1));
    expect((await (await follow(id, 0)).ended()).events).toEqual(events);
  });

  it("a worker killed in the middle of a reply whose frames are lost leaves a marked gap", async () => {
    const { events, retrying } = await killInTheMiddle(async (id) => {
      const key = `${env["QUEUE_NAME"]}:events:{${tenantId}:${decodeId("generation", id)}}`;
      await sendToRedis(redisUrl ?? "", `DEL ${key}`);
    });
    const gap = events[retrying - 1];
    const { from, to } = JSON.parse(gap?.data ?? "{}");
    expect(gap?.event).toBe("stream.gap");
    expect([from, to]).toEqual([Number(events[retrying - 2]?.id) + 1, Number(events[retrying]?.id) - 1]);
    const behind = idsOf(events.slice(retrying));
    expect(behind).toEqual(behind.map((_, n) => Number(behind[0]) + n));
  });
});

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
