import { loadPlugins, type LoadedPlugins } from "@shiftwork/platform";
import { STRATEGIES, type Strategy } from "@shiftwork/pipeline";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openApi, type ApiUnderTest, type TestTenant } from "../../testing/api-under-test.ts";

let api: ApiUnderTest;
let tenant: TestTenant;
let chat: string;

/** Keeps everything, and takes one option. */
const keepAll: Strategy = {
  id: "keep-all",
  params: { type: "object", properties: { depth: { type: "integer", minimum: 1, description: "How deep." } } },
  shift: ({ blocks }) => ({ kept: blocks }),
};

beforeAll(async () => {
  const plugins: LoadedPlugins = {
    ...(await loadPlugins([])),
    list: [{ specifier: "./keep-all.js", strategies: ["keep-all"], interceptors: ["mark"] }],
  };
  plugins.strategies.register(keepAll);
  api = await openApi(inject("databaseUrl"), { plugins });
  tenant = await api.newTenant();
  chat = (await post("/chats", {})).body.id;
});
afterAll(() => api.close());

const post = (path: string, body: unknown) => api.call("POST", `/api/v2${path}`, { key: tenant.key, body });

test("every strategy is listed with the schema of its options, plugins' own behind the built-in ones", async () => {
  const { body } = await api.call("GET", "/api/v2/context-strategies", { key: tenant.key });
  const items = body["items"] as { id: string; builtIn: boolean; params: unknown }[];
  expect(items.map(({ id, builtIn }) => [id, builtIn])).toEqual([
    ...Object.keys(STRATEGIES).map((id) => [id, true]),
    ["keep-all", false],
  ]);
  expect(items.at(-1)?.params).toEqual(keepAll.params);
});

test("a turn and its preview may name a plugin's strategy, and its options are checked", async () => {
  const turn = { message: "Hi", contextStrategy: "keep-all" };
  expect((await post("/context-preview", { chatId: chat, ...turn })).body).toMatchObject({ strategy: "keep-all" });
  const wrong = { ...turn, strategyOptions: { depth: 0 } };
  for (const answer of [
    await post("/context-preview", { chatId: chat, ...wrong }),
    await post(`/chats/${chat}/generations`, wrong),
  ]) {
    expect(answer.status).toBe(400);
    expect(answer.body["errors"]).toMatchObject([{ pointer: "/strategyOptions/depth" }]);
  }
  expect((await post(`/chats/${chat}/generations`, turn)).status).toBe(202);
});

test("the version names the modules and what they added", async () => {
  const { body } = await api.call("GET", "/api/v2/version");
  expect(body["plugins"]).toEqual([{ module: "./keep-all.js", strategies: ["keep-all"], interceptors: ["mark"] }]);
});
