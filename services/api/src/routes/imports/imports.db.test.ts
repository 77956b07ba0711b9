import { existsSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { openApi, type ApiUnderTest, type CallAnswer, type TestTenant } from "../../testing/api-under-test.ts";
import { countRows } from "../../testing/count-rows.ts";
import { multipartForm } from "../../testing/multipart-form.ts";
import { BOOK_FILE, CHAT_FILE } from "../../testing/sample-requests.ts";

let api: ApiUnderTest;
let tenant: TestTenant;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"));
  tenant = await api.newTenant();
});
afterAll(() => api.close());

type File = { readonly name: string; readonly bytes: Uint8Array | string };
const upload = (file: File | null, fields: { readonly [name: string]: string } = {}, headers = {}) => {
  const form = multipartForm(file, fields);
  const options = { key: tenant.key, body: form.body, headers: { ...form.headers, ...headers } };
  return api.call("POST", "/api/v2/imports", options);
};
const get = (path: string) => api.call("GET", `/api/v2${path}`, { key: tenant.key });
const createdBy = (answer: CallAnswer) => answer.body["created"] as { [key: string]: string & number };
const itemsOf = (answer: CallAnswer) => answer.body["items"] as { [key: string]: unknown }[];

const CARD_FILE = JSON.stringify({
  spec: "chara_card_v3",
  spec_version: "3.0",
  data: {
    name: "Mira",
    first_mes: "Hello.",
    description: "A sailor.",
    character_book: { name: "Sea", entries: [{ keys: ["sea"], content: "Salt.", enabled: true, insertion_order: 1 }] },
  },
});

test("a card makes a character and its lorebook, bound to it", async () => {
  const answer = await upload({ name: "mira.json", bytes: CARD_FILE });
  expect(answer).toMatchObject({ status: 201, body: { kind: "card", status: "completed", fileName: "mira.json" } });
  const { characterId, lorebookId, loreEntries } = createdBy(answer);
  expect(loreEntries).toBe(1);
  expect((await get(`/characters/${characterId}`)).body).toMatchObject({ name: "Mira", description: "A sailor." });
  expect((await get(`/lorebooks/${lorebookId}`)).body).toMatchObject({ name: "Sea", bindings: [{ characterId }] });
  expect((await api.call("GET", String(answer.headers["location"]), { key: tenant.key })).body).toEqual(answer.body);
});

test("a lorebook applies everywhere, or where the form says", async () => {
  const everywhere = createdBy(await upload({ name: "b.json", bytes: BOOK_FILE }));
  expect((await get(`/lorebooks/${everywhere["lorebookId"]}`)).body["bindings"]).toEqual([{ global: true }]);
  const chatId = (await api.call("POST", "/api/v2/chats", { key: tenant.key, body: {} })).body.id;
  const bound = createdBy(await upload({ name: "b.json", bytes: BOOK_FILE }, { chatId }));
  expect((await get(`/lorebooks/${bound["lorebookId"]}`)).body["bindings"]).toEqual([{ chatId }]);
});

test("deleting an imported chat deletes the record of its import, and no other", async () => {
  const card = await upload({ name: "mira.json", bytes: CARD_FILE });
  const answer = await upload({ name: "what nobody may find.jsonl", bytes: CHAT_FILE });
  const path = `/api/v2/chats/${createdBy(answer)["chatId"]}`;
  expect((await api.call("DELETE", path, { key: tenant.key })).status).toBe(204);
  expect((await get(`/imports/${answer.body.id}`)).body).toMatchObject({ code: "IMPORT_NOT_FOUND" });
  expect((await get(`/imports/${card.body.id}`)).status).toBe(200);
});

test("a chat keeps order, names, variants and hidden rows, and reports broken lines", async () => {
  const lines = [
    '{"user_name":"U","character_name":"C","chat_metadata":{"note":"x"}}',
    '{"name":"C","is_user":false,"mes":"b","swipes":["a","b"],"swipe_id":1}',
    "{broken",
    '{"name":"U","is_user":true,"mes":"hidden","is_system":true}',
    '{"name":"U","is_user":true,"mes":"bye","send_date":"2026-03-01T10:00:00.000Z"}',
  ];
  const answer = await upload({ name: "Old talk.jsonl", bytes: lines.join("\n") });
  expect(answer.body["warnings"]).toEqual(expect.arrayContaining([expect.objectContaining({ line: 3 })]));
  const { chatId, messages } = createdBy(answer);
  expect(messages).toBe(3);
  expect((await get(`/chats/${chatId}`)).body).toMatchObject({ title: "Old talk" });
  const all = itemsOf(await get(`/chats/${chatId}/messages?variants=all`));
  expect(all.map(({ seq, variant, active, content, hidden }) => [seq, variant, active, content, hidden])).toEqual([
    [1, 0, false, "a", false],
    [1, 1, true, "b", false],
    [2, 0, true, "hidden", true],
    [3, 0, true, "bye", false],
  ]);
  expect(all[3]).toMatchObject({ createdAt: "2026-03-01T10:00:00.000Z", meta: {} });
});

describe("a bad file is refused by name and leaves no row", () => {
  test.each([
    ["no known format", { name: "x.bin", bytes: Uint8Array.from([1, 2, 3, 0, 255]) }, "/file", "format_unsupported"],
    [
      "a card without a name",
      { name: "x.json", bytes: '{"spec":"chara_card_v2","data":{}}' },
      "/data/name",
      "name_missing",
    ],
    ["a PNG without a card", { name: "x.png", bytes: Buffer.from("89504e470d0a1a0a", "hex") }, "/file", "png_damaged"],
    ["a foreign lorebook", { name: "x.json", bytes: '{"type":"risu","entries":[]}' }, "/file", "format_unsupported"],
    [
      "a chat without messages",
      { name: "x.jsonl", bytes: '{"user_name":"U","chat_metadata":{}}' },
      "/file",
      "no_messages",
    ],
  ])("%s", async (_case, file, pointer, code) => {
    const before = await countRows(api.admin);
    const answer = await upload(file);
    expect(answer).toMatchObject({ status: 422, body: { code: "IMPORT_INVALID", errors: [{ pointer, code }] } });
    expect(await countRows(api.admin)).toEqual(before);
  });

  test("a form without a file, with an unknown field, or with a field of another kind", async () => {
    const before = await countRows(api.admin);
    expect(await upload(null)).toMatchObject({ status: 400, body: { errors: [{ pointer: "/file" }] } });
    const file = { name: "c.jsonl", bytes: CHAT_FILE };
    expect(await upload(file, { surprise: "1" })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: "/surprise" }] },
    });
    expect(await upload({ name: "c.json", bytes: CARD_FILE }, { title: "x" })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: "/title" }] },
    });
    expect(await countRows(api.admin)).toEqual(before);
  });

  test("a failure after the first row takes everything back", async () => {
    const before = await countRows(api.admin);
    const characterId = `char_${"0".repeat(32)}`;
    const answer = await upload({ name: "b.json", bytes: BOOK_FILE }, { characterId });
    expect(answer).toMatchObject({ status: 404, body: { code: "CHARACTER_NOT_FOUND" } });
    expect(await countRows(api.admin)).toEqual(before);
  });
});

test("a broken form, JSON instead of a form, and a file above every limit are refused", async () => {
  const { body, headers } = multipartForm({ name: "b.json", bytes: BOOK_FILE });
  const cut = await api.call("POST", "/api/v2/imports", { key: tenant.key, body: body.subarray(0, 90), headers });
  expect(cut).toMatchObject({ status: 400, body: { code: "VALIDATION_FAILED" } });
  const json = await api.call("POST", "/api/v2/imports", { key: tenant.key, body: { a: 1 } });
  expect(json).toMatchObject({ status: 415, body: { code: "UNSUPPORTED_MEDIA_TYPE" } });
  const large = await upload({ name: "big.jsonl", bytes: Buffer.alloc(65 * 1024 * 1024, "x") });
  expect(large).toMatchObject({ status: 413, body: { code: "PAYLOAD_TOO_LARGE" } });
});

test("the key needs the scope of what the file holds", async () => {
  const key = await api.newKey(tenant.id, { scopes: ["imports:write", "authoring:write"] });
  const form = multipartForm({ name: "mira.json", bytes: CARD_FILE });
  const answer = await api.call("POST", "/api/v2/imports", { key, body: form.body, headers: form.headers });
  expect(answer).toMatchObject({ status: 403, body: { params: { requiredScope: "lore:write" } } });
});

test("a repeated upload with one Idempotency-Key imports once; another file under it is refused", async () => {
  const headers = { "idempotency-key": "import-1" };
  const first = await upload({ name: "b.json", bytes: BOOK_FILE }, {}, headers);
  expect((await upload({ name: "b.json", bytes: BOOK_FILE }, {}, headers)).body).toEqual(first.body);
  expect(await upload({ name: "b.json", bytes: CARD_FILE }, {}, headers)).toMatchObject({ status: 422 });
});

const samples = new URL("../../../../../../shared/samples/", import.meta.url);
describe.skipIf(!existsSync(samples))("the sample files (skipped: ../shared is absent)", () => {
  test.each([
    ["default_Seraphina.png", "card"],
    ["eldoria-1.19.world.json", "lorebook"],
    ["chat-st-1.19.synthetic.jsonl", "chat"],
    ["chat-st-legacy.synthetic.jsonl", "chat"],
    ["hazel.card.json", "card"],
  ])("%s is imported as a %s", async (name, kind) => {
    const answer = await upload({ name, bytes: readFileSync(new URL(name, samples)) });
    expect(answer).toMatchObject({ status: 201, body: { kind } });
  });
});
