import { newId } from "@shiftwork/db";
import { openQueue, type Queue } from "@shiftwork/platform";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openApi, type ApiUnderTest, type TestTenant } from "../services/api/src/testing/api-under-test.ts";
import { startWorkerProcess, type WorkerProcess } from "./worker-process.ts";

let api: ApiUnderTest;
let queue: Queue;
let worker: WorkerProcess;
let tenant: TestTenant;
let chat: string;

beforeAll(async () => {
  const name = `e2e-${newId()}`;
  const redisUrl = inject("redisUrl");
  queue = openQueue({ name, url: redisUrl ?? inject("databaseUrl"), onError: () => {} });
  api = await openApi(inject("databaseUrl"), { queue });
  worker = await startWorkerProcess({
    DATABASE_URL: api.url,
    REDIS_URL: redisUrl ?? inject("databaseUrl"),
    QUEUE_NAME: name,
    MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
    DISPATCH_INTERVAL_MS: "50",
  });
  tenant = await api.newTenant();
  const character = (await post("/characters", { name: "Ada", description: "Keeps {{random::a::the}} light." })).body
    .id;
  chat = (await post("/chats", { characterId: character })).body.id;
  await turn({ message: "Who are you, {{user}}?" });
});

afterAll(async () => {
  await worker.end("SIGTERM");
  await queue.close();
  await api.close();
});

const get = (path: string) => api.call("GET", `/api/v2${path}`, { key: tenant.key });
const post = (path: string, body: object, headers = {}) =>
  api.call("POST", `/api/v2${path}`, { key: tenant.key, body, headers });
const turn = (body: object) => post(`/chats/${chat}/generations`, body, { prefer: "wait=25" });
const preview = async (body: object) =>
  (await post("/context-preview", { chatId: chat, ...body })).body["assembly"] as { readonly hash: string };

test.each([
  ["a regenerate", { action: "regenerate" }],
  ["a swipe", { action: "swipe" }],
  ["a reply", { message: "And the {{random::door::lamp}}?" }],
])("%s runs with the very prompt that its preview promised", async (_case, body) => {
  const assembly = await preview(body);
  expect(await turn({ ...body, assembly })).toMatchObject({ status: 200, body: { status: "completed" } });
  const { audit } = (await get(`/chats/${chat}/context-audit`)).body;
  expect(audit).toMatchObject({ assemblyHash: assembly.hash });
});

test("a promise that does not hold is not run", async () => {
  const body = { action: "regenerate" };
  const assembly = { ...(await preview(body)), hash: "0".repeat(64) };
  expect(await turn({ ...body, assembly })).toMatchObject({ status: 409, body: { code: "ASSEMBLY_CHANGED" } });
});
