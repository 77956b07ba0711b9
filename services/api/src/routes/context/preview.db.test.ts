import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openApi, type ApiUnderTest, type TestTenant } from "../../testing/api-under-test.ts";
import { countRows } from "../../testing/count-rows.ts";

let api: ApiUnderTest;
let tenant: TestTenant;
let chat: string;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"));
  tenant = await api.newTenant();
  const character = await post("/characters", {
    name: "Ada",
    description: "Ada writes programs.",
    firstMessage: "Hello.",
  });
  await post("/lorebooks", {
    name: "World",
    bindings: [{ characterId: character.body.id }],
    entries: [
      { title: "Sea", keys: ["sea"], content: "The sea is salt." },
      { keys: ["hill"], content: "Hills are high." },
    ],
  });
  chat = (await post("/chats", { characterId: character.body.id })).body.id;
  await post("/memories", { chatId: chat, content: "Grace likes the sea." });
});
afterAll(() => api.close());

const post = (path: string, body: unknown) => api.call("POST", `/api/v2${path}`, { key: tenant.key, body });
const preview = (body: object) => post("/context-preview", { chatId: chat, message: "Tell me of the sea.", ...body });

test("a preview writes nothing, and is not stored by anyone", async () => {
  const before = await countRows(api.admin);
  const answer = await preview({});
  expect(answer).toMatchObject({ status: 200, body: { fits: true, exact: true, model: "gpt-4o" } });
  expect(answer.headers["cache-control"]).toBe("no-store");
  expect(await countRows(api.admin)).toEqual(before);
});

test("the same turn has the same hash and seed; another one has not", async () => {
  const [first, again, other] = await Promise.all([preview({}), preview({}), preview({ message: "Else." })]);
  const of = (answer: typeof first) => answer.body["assembly"] as { hash: string; seed: string; now: string };
  expect(of(again).hash).toBe(of(first).hash);
  expect(of(again).seed).toBe(of(first).seed);
  expect(of(other).hash).not.toBe(of(first).hash);
  expect(of(first).hash).toMatch(/^[0-9a-f]{64}$/);
});

test("blocks name stored rows by public ids, and texts come only when asked for", async () => {
  const bare = await preview({});
  const full = await preview({ include: ["content", "providerMessages"] });
  const blocksOf = (answer: typeof bare) => answer.body["blocks"] as { [key: string]: unknown }[];
  expect(JSON.stringify(bare.body)).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-7/);
  expect(JSON.stringify(bare.body)).not.toContain("The sea is salt.");
  expect(blocksOf(full)).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ source: "lorebook", reason: "lore_key_match", content: "The sea is salt." }),
      expect.objectContaining({ source: "lorebook", reason: "lore_no_key_match", included: false }),
      expect.objectContaining({ source: "input", content: "Tell me of the sea." }),
    ]),
  );
  expect((full.body["providerMessages"] as object[]).length).toBe(
    (full.body["counts"] as { included: number }).included,
  );
});

test("a turn that cannot fit is a report, not an error", async () => {
  const answer = await preview({ message: "word ".repeat(2_000), budget: { contextLimit: 600 } });
  expect(answer).toMatchObject({
    status: 200,
    body: { fits: false, assembly: { hash: null }, error: { code: "TOKEN_BUDGET_EXCEEDED" } },
  });
});

test("what an accepted turn would refuse, a preview refuses alike", async () => {
  expect((await preview({ contextStrategy: "magic" })).body).toMatchObject({ code: "STRATEGY_UNKNOWN" });
  expect((await preview({ metadata: {} })).body).toMatchObject({ errors: [{ pointer: "/metadata" }] });
});

test("a key that may not read content may preview without texts only", async () => {
  const key = await api.newKey(tenant.id, { scopes: ["context:preview"] });
  const ask = (include: readonly string[]) =>
    api.call("POST", "/api/v2/context-preview", { key, body: { chatId: chat, message: "x", include } });
  expect((await ask([])).status).toBe(200);
  expect(await ask(["content"])).toMatchObject({ status: 403 });
});
