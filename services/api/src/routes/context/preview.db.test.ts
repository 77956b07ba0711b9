import { encodeId } from "@shiftwork/contracts";
import { insertProvider, newId, withTenant } from "@shiftwork/db";
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

interface Shifted {
  readonly contextStrategy: string;
  readonly fits: boolean;
  readonly exact: boolean;
  readonly counts: { readonly included: number; readonly excluded: number; readonly summarised: number };
  readonly budget: { readonly contextLimit: number; readonly promptTokens: number };
  readonly assembly: { readonly hash: string | null };
}
const shiftsOf = (answer: Awaited<ReturnType<typeof preview>>) => answer.body["shifts"] as readonly Shifted[];

/** A chat of 60 turns of some 60 tokens each: 3,600 tokens of history. */
async function longChat(): Promise<string> {
  const id = (await post("/chats", {})).body.id;
  for (let turn = 0; turn < 60; turn += 1) {
    const role = turn % 2 === 0 ? "user" : "assistant";
    await post(`/chats/${id}/messages`, { role, content: `Turn ${turn}. ${"The tide comes in slowly. ".repeat(10)}` });
  }
  return id;
}

test("what-ifs shift one assembly: each equals the preview that asks for it alone, and nothing is written", async () => {
  const chatId = await longChat();
  const before = await countRows(api.admin);
  const budget = { contextLimit: 2_000 };
  const strategies = ["truncate", "summarize", "vector-recall", "manual"];
  const shifts = strategies.map((contextStrategy) => ({ contextStrategy }));
  const together = await preview({ chatId, budget, shifts });
  for (const [index, contextStrategy] of strategies.entries()) {
    const alone = await preview({ chatId, budget, contextStrategy });
    expect(shiftsOf(together)[index]).toMatchObject({
      contextStrategy,
      fits: true,
      exact: true,
      counts: alone.body["counts"],
      budget: alone.body["budget"],
      blocks: (alone.body["blocks"] as object[]).map((block) => expect.objectContaining({ id: idOf(block) })),
    });
  }
  expect(shiftsOf(together)[1]?.counts.summarised).toBeGreaterThan(0);
  expect(await countRows(api.admin)).toEqual(before);
});

const idOf = (block: object) => ("id" in block ? block.id : null);

test("with the same assembly a what-if has the hash of the generation it stands for", async () => {
  const chatId = await longChat();
  const budget = { contextLimit: 2_000 };
  const first = await preview({ chatId, budget, shifts: [{ contextStrategy: "summarize" }, { budget }, {}] });
  const assembly = first.body["assembly"] as { hash: string };
  const alone = await preview({ chatId, budget, contextStrategy: "summarize", assembly: { ...assembly, hash: null } });
  const [summarized, same, unchanged] = shiftsOf(first).map((shift) => shift.assembly.hash);
  expect(summarized).toBe((alone.body["assembly"] as { hash: string }).hash);
  expect([same, unchanged]).toEqual([assembly.hash, assembly.hash]);
});

test("a what-if with another window says when the shares of lore and memories would follow it", async () => {
  const shifts = [{ budget: { contextLimit: 4_096 } }];
  const withLore = await preview({ shifts });
  const [shift] = shiftsOf(withLore);
  expect(shift).toMatchObject({ exact: false, budget: { contextLimit: 4_096 }, assembly: { hash: null } });
  const bare = (await post("/chats", {})).body.id;
  const [plain] = shiftsOf(await preview({ chatId: bare, shifts }));
  expect(plain).toMatchObject({ exact: true, assembly: { hash: expect.stringMatching(/^[0-9a-f]{64}$/) } });
});

test("where a model would write the summary a placeholder of its cap stands, and there is no hash to insist on", async () => {
  const chatId = await longChat();
  const answer = await preview({
    chatId,
    budget: { contextLimit: 3_000 },
    contextStrategy: "compress",
    shifts: [{ contextStrategy: "truncate" }],
  });
  expect(answer.body).toMatchObject({ fits: true, exact: false, assembly: { hash: null } });
  expect(answer.body["counts"]).toMatchObject({ summarised: expect.any(Number) });
  expect(answer.body["blocks"]).toEqual(
    expect.arrayContaining([expect.objectContaining({ source: "summary", included: true })]),
  );
  expect(shiftsOf(answer)[0]).toMatchObject({ exact: true });
});

test("with modelCalls the model writes the summary once: exact, its cost listed, no hash to insist on, nothing stored", async () => {
  const chatId = await longChat();
  const before = await countRows(api.admin);
  const ask = {
    chatId,
    budget: { contextLimit: 3_000 },
    contextStrategy: "compress",
    modelCalls: true,
    shifts: [{}, {}],
  };
  const answer = await preview({ ...ask, include: ["content"] });
  expect(answer.body).toMatchObject({
    fits: true,
    exact: true,
    assembly: { hash: null },
    diagnostics: expect.arrayContaining([
      expect.objectContaining({
        code: "summary_written",
        detail: expect.objectContaining({ calls: 1, reused: false }),
      }),
    ]),
  });
  expect(answer.body["blocks"]).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ source: "summary", content: expect.stringContaining("the echo provider") }),
    ]),
  );
  expect(await countRows(api.admin)).toEqual(before);
  const looking = await api.newKey(tenant.id, { scopes: ["context:preview"] });
  const refused = await api.call("POST", "/api/v2/context-preview", { key: looking, body: { ...ask, message: "Hi" } });
  expect(refused).toMatchObject({ status: 403, body: { code: "INSUFFICIENT_SCOPE" } });
});

test("a what-if that does not fit is a report, and the others stand", async () => {
  const answer = await preview({
    message: "word ".repeat(700),
    shifts: [{ budget: { contextLimit: 600 } }, { contextStrategy: "manual" }],
  });
  expect(answer.body).toMatchObject({ fits: true });
  expect(shiftsOf(answer)).toMatchObject([{ fits: false, error: { code: "TOKEN_BUDGET_EXCEEDED" } }, { fits: true }]);
});

test("a what-if that cannot work is refused with its place, and so is a ninth", async () => {
  const unknown = await preview({ shifts: [{}, { contextStrategy: "magic" }] });
  expect(unknown).toMatchObject({ status: 422, body: { code: "STRATEGY_UNKNOWN" } });
  expect(unknown.body["errors"]).toMatchObject([{ pointer: "/shifts/1/contextStrategy" }]);
  const window = await preview({ shifts: [{ budget: { contextLimit: -1 } }] });
  expect(window.body["errors"]).toMatchObject([{ pointer: "/shifts/0/budget/contextLimit" }]);
  expect((await preview({ shifts: Array.from({ length: 9 }, () => ({})) })).body["errors"]).toMatchObject([
    { pointer: "/shifts" },
  ]);
});

test("a character alone can be tried: its first message, its books, the same seed each time", async () => {
  const before = await countRows(api.admin);
  const { characterId } = (await api.call("GET", `/api/v2/chats/${chat}`, { key: tenant.key })).body;
  const ask = (more: object = {}) =>
    post("/context-preview", { characterId, message: "Tell me of the sea.", include: ["content"], ...more });
  const [first, again] = [await ask(), await ask()];
  expect(first.body["assembly"]).toMatchObject({
    chatRevision: 0,
    hash: (again.body["assembly"] as { hash: string }).hash,
  });
  expect(first.body["blocks"]).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ source: "history", role: "assistant", content: "Hello." }),
      expect.objectContaining({ source: "lorebook", content: "The sea is salt.", included: true }),
      expect.objectContaining({ source: "input", content: "Tell me of the sea." }),
    ]),
  );
  expect((await ask({ message: undefined })).body["errors"]).toMatchObject([{ pointer: "/message" }]);
  expect((await ask({ chatId: chat })).body["errors"]).toMatchObject([{ pointer: "/characterId" }]);
  expect((await post("/context-preview", { message: "x" })).body["errors"]).toMatchObject([{ pointer: "/chatId" }]);
  expect(await countRows(api.admin)).toEqual(before);
});

test("stop strings that had no room are named, as text only when texts are asked for", async () => {
  const { id: tenantId, key } = await api.newTenant();
  const id = newId();
  const models = [{ model: "local", contextLimit: 8_192, maxOutputTokens: null }];
  const row = { name: "text", baseUrl: "http://127.0.0.1:9/v1", secret: null, allowPrivateNetwork: true, models };
  await withTenant(api.admin.db, tenantId, (tx) =>
    insertProvider(tx, tenantId, { id, kind: "openai-compatible-text", ...row }),
  );
  const character = await api.call("POST", "/api/v2/characters", { key, body: { name: "Ada" } });
  const repairOf = async (include: readonly string[]): Promise<unknown> => {
    const turn = { characterId: character.body.id, message: "Hi", parameters: { stop: ["END"] } };
    const body = { ...turn, providerId: encodeId("provider", id), model: "local", include };
    const answer = await api.call("POST", "/api/v2/context-preview", { key, body });
    return (answer.body["diagnostics"] as { code: string; detail: object }[]).find(({ code }) => code === "wire_repair")
      ?.detail;
  };
  const count = { repair: "stop_string_left_out", count: 3, blockIds: [] };
  expect(await repairOf([])).toEqual(count);
  const texts = ["\n<|im_start|>assistant", "\n<|im_start|>system", "\nAda:"];
  expect(await repairOf(["content"])).toEqual({ ...count, texts });
});
