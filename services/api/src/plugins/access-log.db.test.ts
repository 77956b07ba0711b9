import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openApi, type ApiUnderTest, type TestTenant } from "../testing/api-under-test.ts";

const lines: string[] = [];
let api: ApiUnderTest;
let tenant: TestTenant;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"), { onLogLine: (line) => lines.push(line) });
  tenant = await api.newTenant();
});
afterAll(() => api.close());

const post = (path: string, body?: unknown) => api.call("POST", `/api/v2${path}`, { key: tenant.key, body });
const logged = (route: string) =>
  lines.map((line) => JSON.parse(line)).filter((line) => line.route === `/api/v2${route}`);

test("a line names the generation that its request has made, and holds neither key nor text", async () => {
  const chat = (await post("/chats", {})).body.id;
  const made = (await post(`/chats/${chat}/generations`, { message: "whispered words" })).body.id;
  await post(`/generations/${made}/cancel`);
  const again = (await post(`/generations/${made}/retry`)).body.id;
  expect(logged("/chats/:chatId/generations")).toMatchObject([{ status: 202, chatId: chat, generationId: made }]);
  expect(logged("/generations/:generationId/retry")).toMatchObject([{ status: 202, generationId: again }]);
  expect(lines.join("")).not.toMatch(/whispered|sw_/);
});

test("what a plugin serves has its line too", async () => {
  await api.app.inject("/docs/static/index.css");
  const served = lines.map((line) => JSON.parse(line)).filter(({ route }) => route?.startsWith("/docs"));
  expect(served).toMatchObject([{ msg: "request", status: 200 }]);
});
