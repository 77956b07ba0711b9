import { decodeId, type ContextPreview, type TokenizerObject } from "@shiftwork/contracts";
import { findGenerationContents, recordCountSample, withTenant } from "@shiftwork/db";
import { profileFor } from "@shiftwork/pipeline";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { openApi, type ApiUnderTest, type TestTenant } from "../../testing/api-under-test.ts";
import { multipartForm } from "../../testing/multipart-form.ts";
import { TOKENIZER_FILE } from "../../testing/sample-requests.ts";

let api: ApiUnderTest;
let tenant: TestTenant;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"));
});
beforeEach(async () => {
  tenant = await api.newTenant();
});
afterAll(() => api.close());

const call = (method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: unknown, key = tenant.key) =>
  api.call(method, `/api/v2${path}`, { key, body });

function upload(fields: { readonly [name: string]: string }, bytes: Uint8Array | string = TOKENIZER_FILE) {
  const form = multipartForm({ name: "tokenizer.json", bytes }, fields);
  return api.call("POST", "/api/v2/tokenizers", { key: tenant.key, ...form });
}
const uploadFor = async (models: string): Promise<string> => (await upload({ name: "Own", models })).body.id;
const listed = async (key = tenant.key): Promise<readonly TokenizerObject[]> =>
  (await call("GET", "/tokenizers", undefined, key)).body["items"] as TokenizerObject[];
const tokenize = (body: object, key = tenant.key) => call("POST", "/tokenize", body, key);

/** The fixture with another model. */
function changed(model: object): string {
  const parsed = JSON.parse(TOKENIZER_FILE.toString("utf8")) as { readonly model: object };
  return JSON.stringify({ ...parsed, model: { ...parsed.model, ...model } });
}

describe("a tenant's tokenizer", () => {
  it("is listed before the built-in ones, with the families it counts for, to its tenant alone", async () => {
    const { status, body, headers } = await upload({ name: "Own", models: "Qwen/Qwen3-*, house-7b" });
    expect(status).toBe(201);
    expect(headers["location"]).toBe(`/api/v2/tokenizers/${body.id}`);
    expect(body).toMatchObject({ builtIn: false, version: 1, approximate: false, families: ["qwen"] });
    expect(body).toMatchObject({ models: ["Qwen/Qwen3-*", "house-7b"], sizeBytes: TOKENIZER_FILE.length });
    const ids = async (key: string) => (await listed(key)).map(({ id }) => id);
    expect((await ids(tenant.key)).slice(0, 2)).toEqual([body.id, "openai:o200k_base"]);
    const other = await api.newTenant();
    expect(await ids(other.key)).not.toContain(body.id);
    expect((await tokenize({ tokenizer: body.id, text: "the" }, other.key)).body["code"]).toBe("TOKENIZER_NOT_FOUND");
    expect((await tokenize({ model: "house-7b", text: "the" }, other.key)).body["profile"]).toBe("estimate:generic");
    expect((await call("DELETE", `/tokenizers/${body.id}`, undefined, other.key)).status).toBe(404);
  });

  it("counts for the models it names until it is deleted; of two, the newer does", async () => {
    const older = await uploadFor("house-*");
    const newer = await uploadFor("house-7b");
    const profileOf = async (model: string) => (await tokenize({ model, text: "the" })).body["profile"];
    expect([await profileOf("house-7b"), await profileOf("House-8B")]).toEqual([newer, older]);
    for (const id of [newer, older]) expect((await call("DELETE", `/tokenizers/${id}`)).status).toBe(204);
    expect(await profileOf("house-7b")).toBe("estimate:generic");
    expect((await tokenize({ tokenizer: newer, text: "the" })).status).toBe(404);
    expect((await call("DELETE", `/tokenizers/${newer}`)).body["code"]).toBe("TOKENIZER_NOT_FOUND");
  });

  it.each([
    ["/file/model/byte_fallback", changed({ byte_fallback: true })],
    ["/file/model/merges/0", changed({ merges: ["a b c"] })],
    ["/file", "{"],
  ])("is refused with the field it cannot be counted by: %s", async (pointer, bytes) => {
    const { status, body } = await upload({ name: "Own", models: "m" }, bytes);
    expect([status, body["code"]]).toEqual([422, "TOKENIZER_INVALID"]);
    expect(body["errors"]).toEqual([expect.objectContaining({ pointer, code: "unsupported" })]);
    expect((await listed()).every(({ builtIn }) => builtIn)).toBe(true);
  });

  it.each([
    ["/models", { name: "Own" }],
    ["/models", { name: "Own", models: "a,,b" }],
    ["/models", { name: "Own", models: "a, ,b" }],
    ["/name", { name: " ", models: "a" }],
    ["/model", { name: "Own", models: "a", model: "a" }],
  ])("is refused with the field of the form that is wrong: %s in %j", async (pointer, fields) => {
    const { status, body } = await upload(fields);
    expect([status, body["code"]]).toEqual([400, "VALIDATION_FAILED"]);
    expect(body["errors"]).toEqual([expect.objectContaining({ pointer })]);
  });

  it("is one of twenty at most", async () => {
    await withTenant(api.database.db, tenant.id, async (tx) => {
      const row = { tenant_id: tenant.id, name: "Own", models: ["m"], size_bytes: 1, file: Buffer.alloc(1) };
      const ids = Array.from({ length: 20 }, () => crypto.randomUUID());
      await tx
        .insertInto("tokenizers")
        .values(ids.map((id) => ({ ...row, id })))
        .execute();
    });
    const { status, body } = await upload({ name: "Own", models: "m" });
    expect([status, body["code"], body["params"]]).toEqual([409, "CONFLICT", { mostTokenizers: 20 }]);
  });
});

describe("tokenize", () => {
  const text = "The tide took three lamps before dawn. ";

  it("counts a text as it is, and messages as a request", async () => {
    expect((await tokenize({ model: "gpt-4o", text })).body).toEqual({
      object: "token_count",
      tokens: 9,
      messageTokens: null,
      profile: "openai:o200k_base",
      version: 2,
      approximate: false,
    });
    const messages = [
      { role: "user", content: "Hello there" },
      { role: "assistant", content: "Hi", name: "Ada" },
    ];
    const { body } = await tokenize({ tokenizer: "openai:o200k_base", messages });
    expect(body).toMatchObject({ tokens: 6 + 7 + 3, messageTokens: [6, 7] });
  });

  it("counts what is long in a thread, and comes to the same", async () => {
    const own = await uploadFor("house-*");
    for (const tokenizer of ["openai:cl100k_base", "estimate:claude", own]) {
      const count = async (repeated: number) =>
        (await tokenize({ tokenizer, text: text.repeat(repeated) })).body["tokens"] as number;
      const [short, long] = [await count(100), await count(10_000)];
      expect(Math.abs(long - short * 100)).toBeLessThan(200);
    }
    const messages = Array.from({ length: 10 }, () => ({ role: "user", content: text.repeat(1_000) }));
    const { body } = await tokenize({ tokenizer: own, messages });
    const each = body["messageTokens"] as readonly number[];
    expect([each.length, new Set(each).size]).toEqual([10, 1]);
  });

  it("counts special tokens as the text they are", async () => {
    const { body } = await tokenize({ model: "gpt-4o", text: "<|endoftext|>".repeat(200) });
    expect(body["tokens"]).toBe(1_201);
  });

  it.each([
    ["/model", { text }],
    ["/tokenizer", { model: "m", tokenizer: "t", text }],
    ["/text", { model: "m" }],
    ["/messages", { model: "m", text, messages: [] }],
  ])("wants one to count by and one to count: %s", async (pointer, body) => {
    const answer = await tokenize(body);
    expect(answer.status).toBe(400);
    expect(answer.body["errors"]).toEqual([expect.objectContaining({ pointer })]);
  });

  it("knows the ids that are listed, and no others", async () => {
    for (const { id } of await listed())
      expect((await tokenize({ tokenizer: id, text: "a" })).body["profile"]).toBe(id);
    expect((await tokenize({ tokenizer: "estimate:none", text: "a" })).body["code"]).toBe("TOKENIZER_NOT_FOUND");
  });
});

describe("a preview", () => {
  let chat: string;
  beforeEach(async () => {
    chat = (await call("POST", "/chats", {})).body.id;
  });

  const turn = (model: string) => ({ message: "And now? ".repeat(40), model, budget: { contextLimit: 4_000 } });
  async function preview(model: string, more: object = {}): Promise<ContextPreview> {
    const { body } = await call("POST", "/context-preview", { chatId: chat, ...turn(model), ...more });
    return body as unknown as ContextPreview;
  }

  /** What the turn was accepted with. */
  async function accepted(model: string, assembly?: unknown) {
    const { status, body } = await call("POST", `/chats/${chat}/generations`, { ...turn(model), assembly });
    expect(status).toBe(202);
    const id = decodeId("generation", body.id) ?? "";
    const contents = await withTenant(api.database.db, tenant.id, (tx) => findGenerationContents(tx, tenant.id, id));
    return contents?.request.counting;
  }

  /** As many requests as are believed, each a half dearer than estimated. */
  async function learn(model: string, reportedTokens = 1_500): Promise<void> {
    const { id: profile, version: profileVersion } = profileFor(model);
    const providerId = decodeId("provider", tenant.providerId) ?? "";
    const place = { providerId, model, profile, profileVersion };
    for (let request = 1; request <= 5; request += 1) {
      await withTenant(api.worker.db, tenant.id, (tx) =>
        recordCountSample(tx, tenant.id, place, { estimatedTokens: 1_000, factor: 1, reportedTokens }),
      );
    }
  }

  it("and the generation are counted by the tenant's tokenizer", async () => {
    const id = await uploadFor("house-*");
    const { tokenizer, budget, assembly, blocks } = await preview("house-7b", { include: ["content"] });
    expect(tokenizer).toEqual({ profile: id, approximate: false });
    expect(budget).toMatchObject({ margin: 0 });
    expect(assembly).toMatchObject({ calibration: null });
    expect(blocks.find(({ source }) => source === "input")?.tokens).toBeGreaterThan(200);
    expect(await accepted("house-7b")).toEqual({ tokenizerId: decodeId("tokenizer", id), calibration: null });
  });

  it("is estimated as was learned, and so is a generation it was promised to, whatever is learned meanwhile", async () => {
    const before = await preview("claude-x");
    await learn("claude-x");
    const after = await preview("claude-x");
    const calibration = { version: 1, factor: 1.5 };
    expect(before.assembly).toMatchObject({ calibration: null });
    expect(after.tokenizer).toEqual({ profile: "estimate:claude", approximate: true, calibration });
    expect(after.assembly).toMatchObject({ calibration });
    const [dearer, plain] = [after.budget.promptTokens ?? 0, before.budget.promptTokens ?? 0];
    expect(dearer / plain).toBeCloseTo(1.5, 1);
    expect(after.assembly.hash).not.toBe(before.assembly.hash);
    await learn("claude-x", 1_900);
    expect((await preview("claude-x")).assembly.calibration?.version).toBeGreaterThan(1);
    expect((await preview("claude-x", { assembly: after.assembly })).assembly.hash).toBe(after.assembly.hash);
    expect(await accepted("claude-x", after.assembly)).toEqual({ tokenizerId: null, calibration });
  });

  it("of an exact model is never calibrated", async () => {
    const { assembly } = await preview("gpt-4o");
    expect(assembly.calibration).toBe(null);
    expect(await accepted("gpt-4o", { ...assembly, calibration: { version: 1, factor: 1.5 } })).toEqual({
      tokenizerId: null,
      calibration: null,
    });
  });
});
