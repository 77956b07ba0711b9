import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { claimRun, endRun, prepareRun } from "../../testing/act-as-worker.ts";
import { openApi, type ApiUnderTest, type CallAnswer, type TestTenant } from "../../testing/api-under-test.ts";
import { multipartForm } from "../../testing/multipart-form.ts";

let api: ApiUnderTest;
let tenant: TestTenant;
let chat: string;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"));
  tenant = await api.newTenant();
});
afterAll(() => api.close());
beforeEach(async () => {
  chat = (await post("/chats", {})).body.id;
});

type Headers = { readonly [name: string]: string };
const get = (path: string) => api.call("GET", `/api/v2${path}`, { key: tenant.key });
const post = (path: string, body?: unknown, headers: Headers = {}) =>
  api.call("POST", `/api/v2${path}`, { key: tenant.key, headers, body });
const at = (message: string) => `/chats/${chat}/messages/${message}`;
const patch = (message: string, body: unknown, headers: Headers = {}) =>
  api.call("PATCH", `/api/v2${at(message)}`, { key: tenant.key, headers, body });
const remove = (message: string) => api.call("DELETE", `/api/v2${at(message)}`, { key: tenant.key });
const select = (message: string) => post(`${at(message)}/select`);
const read = async (message: string) => (await get(at(message))).body;
const say = async (content: string, more: object = {}) =>
  (await post(`/chats/${chat}/messages`, { content, ...more })).body.id;
const revision = async () => (await get(`/chats/${chat}`)).body["revision"];

const itemsOf = (answer: CallAnswer) => answer.body["items"] as { id: string; [key: string]: unknown }[];
const texts = async (query = "") =>
  itemsOf(await get(`/chats/${chat}/messages${query}`)).map(({ content, seq }) => [seq, content]);

/** What a turn would make of each message: its reason, by its id. */
async function reasons(body: object = {}): Promise<{ readonly [message: string]: string }> {
  const answer = await post("/context-preview", { chatId: chat, message: "And now?", ...body });
  return reasonsOf(answer.body["blocks"]);
}

function reasonsOf(blocks: unknown): { readonly [message: string]: string } {
  const rows = blocks as { refId: string | null; reason: string }[];
  return Object.fromEntries(rows.map(({ refId, reason }) => [refId, reason]));
}

const promise = async () => {
  const { body } = await post("/context-preview", { chatId: chat, message: "And now?" });
  return body["assembly"] as { hash: string; chatRevision: number };
};

/** Two replies to one message: a cancelled one's half, and the complete one that took its place. */
async function twoReplies(): Promise<{ input: string; half: string; whole: string }> {
  const first = (await post(`/chats/${chat}/generations`, { message: "Hi" })).body;
  await endRun(api, await claimRun(api, tenant, first.id), "failed", "");
  const runs = [first.id];
  for (const [status, text] of [
    ["cancelled", "Hal"],
    ["completed", "Hello"],
  ] as const) {
    const again = (await post(`/generations/${runs.at(-1)}/retry`)).body.id;
    await endRun(api, await claimRun(api, tenant, again), status, text);
    runs.push(again);
  }
  const [input, half, whole] = itemsOf(await get(`/chats/${chat}/messages?variants=all`)).map(({ id }) => id);
  return { input: input ?? "", half: half ?? "", whole: whole ?? "" };
}

describe("change", () => {
  test("text and marks are stored one by one, what is left out stays", async () => {
    const id = await say("One", { meta: { mine: 1, none: null } });
    const before = await read(id);
    for (const change of [{ content: "Two" }, { pinned: true }, { hidden: true }]) {
      expect(await patch(id, change)).toMatchObject({ status: 200, body: change });
    }
    const marked = await patch(id, { meta: { manualExcluded: true, mood: "calm" } });
    expect(marked.body["meta"]).toEqual({ mine: 1, none: null, mood: "calm", manualExcluded: true });
    const taken = await patch(id, { meta: { manualExcluded: null, mine: null } });
    expect(taken.body).toEqual({
      ...before,
      content: "Two",
      pinned: true,
      hidden: true,
      meta: { none: null, mood: "calm" },
    });
    expect(await read(id)).toEqual(taken.body);
    expect(itemsOf(await get(`/chats/${chat}/messages`))).toEqual([taken.body]);
  });

  test("every change is a new revision, and one that changes nothing is none", async () => {
    const id = await say("One");
    expect(await revision()).toBe(1);
    await patch(id, { pinned: true });
    expect(await revision()).toBe(2);
    for (const change of [{}, { pinned: true, content: "One", meta: {} }]) {
      expect((await patch(id, change)).status).toBe(200);
    }
    expect(await revision()).toBe(2);
  });

  test("an edit changes the hash of the next turn, and a promise made before it is refused", async () => {
    const id = await say("One");
    const before = await promise();
    await patch(id, { content: "Two" });
    const after = await promise();
    expect(after.hash).not.toBe(before.hash);
    expect(after.chatRevision).toBe(before.chatRevision + 1);
    const turn = { message: "And now?", assembly: before };
    expect((await post(`/chats/${chat}/generations`, turn)).body).toMatchObject({ code: "ASSEMBLY_CHANGED" });
  });

  test.each([
    ["a role", { role: "user" }, "/role", "unknown_field", "Remove it, or correct its spelling."],
    [
      "a mark that is no boolean",
      { meta: { manualExcluded: "yes" } },
      "/meta/manualExcluded",
      "invalid_type",
      "Send true or false.",
    ],
    ["another that is none", { meta: { optional: 1 } }, "/meta/optional", "invalid_type", "Send true or false."],
    ["what an import stored", { meta: { source: {} } }, "/meta/source", "invalid", "Remove it."],
    ["no text", { content: null }, "/content", "invalid_type", "Send a text."],
  ])("%s is refused by its place, and nothing is stored", async (_case, body, pointer, code, fix) => {
    const id = await say("One");
    const before = await read(id);
    const answer = await patch(id, { pinned: true, ...body });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer, code, fix }] } });
    expect(await read(id)).toEqual(before);
  });

  test("a new message takes no mark that turns could not read", async () => {
    const answer = await post(`/chats/${chat}/messages`, { content: "x", meta: { optional: "maybe" } });
    expect(answer.body["errors"]).toMatchObject([{ pointer: "/meta/optional" }]);
    await say("x", { meta: { optional: true, manualExcluded: false, other: "maybe" } });
    expect(await post("/context-preview", { chatId: chat, message: "x" })).toMatchObject({ status: 200 });
  });

  test("metadata cannot be piled up without end", async () => {
    const id = await say("One");
    const add = (key: string) => patch(id, { meta: { [key]: "x".repeat(1_000_000) } });
    expect([(await add("a")).status, (await add("b")).status]).toEqual([200, 200]);
    const full = await add("c");
    expect(full.body["errors"]).toMatchObject([{ pointer: "/meta", fix: "Take keys out." }]);
    expect((await patch(id, { meta: { a: null, c: 1 } })).status).toBe(200);
  });

  test("the line of an imported message is kept and not shown", async () => {
    const file = {
      name: "c.jsonl",
      bytes: '{"user_name":"U","character_name":"C","chat_metadata":{}}\n{"name":"U","is_user":true,"mes":"Hi"}',
    };
    const { body, headers } = multipartForm(file);
    const imported = await post("/imports", body, headers);
    chat = (imported.body["created"] as { chatId: string }).chatId;
    const [message] = itemsOf(await get(`/chats/${chat}/messages`));
    const changed = await patch(message?.id ?? "", { content: "Hey", meta: { manualExcluded: true } });
    expect(changed.body).toMatchObject({ content: "Hey", meta: { manualExcluded: true } });
    expect(changed.body["meta"]).not.toHaveProperty("source");
    expect(await storedSources()).toContain("Hi");
  });

  test("a tag that is not the current one stops the change, the current one lets it through", async () => {
    const id = await say("One");
    const tag = String((await get(at(id))).headers["etag"]);
    const changed = await patch(id, { content: "Two" }, { "if-match": tag });
    expect([changed.status, changed.headers["etag"] === tag]).toEqual([200, false]);
    expect(await patch(id, { content: "Three" }, { "if-match": tag })).toMatchObject({
      status: 412,
      body: { code: "PRECONDITION_FAILED", params: { etag: changed.headers["etag"] } },
    });
    expect(await read(id)).toMatchObject({ content: "Two" });
  });

  test("another tenant's message, another chat's and one that never was are the same 404", async () => {
    const id = await say("One");
    const other = await api.newTenant();
    const theirs = await api.call("PATCH", `/api/v2${at(id)}`, { key: other.key, body: { pinned: true } });
    expect([theirs.status, theirs.body["code"]]).toEqual([404, "CHAT_NOT_FOUND"]);
    chat = (await post("/chats", {})).body.id;
    for (const call of [() => patch(id, { pinned: true }), () => remove(id), () => select(id)]) {
      expect(await call()).toMatchObject({ status: 404, body: { code: "MESSAGE_NOT_FOUND" } });
    }
  });
});

describe("marks decide what the next turn sees", () => {
  test("a hidden message is not sent and a pinned one is protected", async () => {
    const [hidden, pinned, plain] = [await say("a"), await say("b"), await say("c")];
    await patch(hidden, { hidden: true });
    await patch(pinned, { pinned: true });
    expect(await reasons()).toMatchObject({ [hidden]: "hidden", [pinned]: "pinned", [plain]: "history" });
    await patch(hidden, { hidden: false });
    expect(await reasons()).toMatchObject({ [hidden]: "history" });
  });

  test("what is marked leaves under manual, in the preview and in the audit of the turn", async () => {
    const [marked, kept] = [await say("a"), await say("b", { role: "assistant" })];
    await patch(marked, { meta: { manualExcluded: true } });
    expect(await reasons({ contextStrategy: "manual" })).toMatchObject({
      [marked]: "manual_excluded",
      [kept]: "history",
    });
    expect(await reasons({ contextStrategy: "truncate" })).toMatchObject({ [marked]: "history" });
    const turn = { message: "And now?", contextStrategy: "manual" };
    const run = await claimRun(api, tenant, (await post(`/chats/${chat}/generations`, turn)).body.id);
    await prepareRun(api, run);
    await endRun(api, run, "completed", "Hello");
    const audit = (await get(`/chats/${chat}/context-audit`)).body["audit"] as { blocks: unknown };
    expect(reasonsOf(audit.blocks)).toMatchObject({ [marked]: "manual_excluded", [kept]: "history" });
    await patch(marked, { meta: { manualExcluded: false } });
    expect(await reasons({ contextStrategy: "manual" })).toMatchObject({ [marked]: "history" });
  });
});

describe("delete", () => {
  test("the message is gone, the others keep their places, and the next turn does without it", async () => {
    const [first, second, third] = [await say("a"), await say("b"), await say("c")];
    const before = await promise();
    expect((await remove(second)).status).toBe(204);
    expect(await texts()).toEqual([
      [1, "a"],
      [3, "c"],
    ]);
    expect((await remove(second)).body).toMatchObject({ code: "MESSAGE_NOT_FOUND" });
    expect(await promise()).toMatchObject({ chatRevision: before.chatRevision + 1 });
    expect((await promise()).hash).not.toBe(before.hash);
    expect(Object.keys(await reasons())).toEqual(expect.arrayContaining([first, third]));
    expect(Object.keys(await reasons())).not.toContain(second);
  });

  test("without its call a result is left out as an orphan, and without its result a call is", async () => {
    const use = async (id: string) => {
      const toolCalls = [{ id, name: "look", arguments: "{}" }];
      const call = await say("", { role: "assistant", toolCalls });
      return { call, result: await say("42", { role: "tool", toolCallId: id }) };
    };
    const [first, second] = [await use("t1"), await use("t2")];
    await remove(first.call);
    await remove(second.result);
    expect(await reasons()).toMatchObject({
      [first.result]: "orphan_tool_result",
      [second.call]: "orphan_tool_call",
    });
  });

  test("where the chosen variant goes, the newest other one is chosen; with the last one the place is empty", async () => {
    const { input, half, whole } = await twoReplies();
    expect((await remove(whole)).status).toBe(204);
    expect(await read(half)).toMatchObject({ active: true, partial: true });
    expect((await remove(half)).status).toBe(204);
    expect(await texts("?variants=all")).toEqual([[1, "Hi"]]);
    expect((await post(`/chats/${chat}/generations`, {})).body).toMatchObject({ inputMessageId: input });
  });

  test("what was not chosen goes without a trace in what the chat shows", async () => {
    const { half, whole } = await twoReplies();
    await remove(half);
    expect(await read(whole)).toMatchObject({ active: true, content: "Hello" });
  });

  test("a generation names only messages that are there, and none can be run again without its input", async () => {
    const failed = (await post(`/chats/${chat}/generations`, { message: "Hi" })).body;
    await endRun(api, await claimRun(api, tenant, failed.id), "failed", "Hal");
    const [, partial] = itemsOf(await get(`/chats/${chat}/messages`));
    await remove(partial?.id ?? "");
    expect((await get(`/generations/${failed.id}`)).body).toMatchObject({ messageId: null });
    await remove(String(failed["inputMessageId"]));
    expect((await get(`/generations/${failed.id}`)).body).toMatchObject({ inputMessageId: null, status: "failed" });
    expect(await post(`/generations/${failed.id}/retry`)).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
  });

  test("a memory that was made from it stays, without its source", async () => {
    const source = await say("I like the sea.");
    const memory = { chatId: chat, content: "Likes the sea.", sourceMessageId: source };
    const { id } = (await post("/memories", memory)).body;
    await remove(source);
    expect((await get(`/memories/${id}`)).body).toMatchObject({ content: "Likes the sea.", sourceMessageId: null });
  });
});

describe("select", () => {
  test("a greeting's alternative becomes the one the chat shows and sends", async () => {
    const character = await post("/characters", { name: "Ada", firstMessage: "Hi", alternateGreetings: ["Hm?", "Oh"] });
    chat = (await post("/chats", { characterId: character.body.id })).body.id;
    const variants = itemsOf(await get(`/chats/${chat}/messages?variants=all`));
    const third = variants[2]?.id ?? "";
    const before = await promise();
    expect(await select(third)).toMatchObject({ status: 200, body: { id: third, active: true, content: "Oh" } });
    expect(await texts()).toEqual([[1, "Oh"]]);
    expect((await promise()).hash).not.toBe(before.hash);
    expect(await reasons()).toMatchObject({ [third]: "history" });
    const chosen = await revision();
    expect((await select(third)).status).toBe(200);
    expect(await revision()).toBe(chosen);
  });

  test("of many at once one is chosen", async () => {
    const { half, whole } = await twoReplies();
    const answers = await Promise.all([half, whole, half, whole, half].map(select));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const active = itemsOf(await get(`/chats/${chat}/messages?variants=all`)).filter((each) => each["active"]);
    expect(active.map(({ seq }) => seq)).toEqual([1, 2]);
  });

  test("what a failed run left cannot be chosen", async () => {
    const { id } = (await post(`/chats/${chat}/generations`, { message: "Hi" })).body;
    await endRun(api, await claimRun(api, tenant, id), "failed", "Hal");
    const [, partial] = itemsOf(await get(`/chats/${chat}/messages`));
    expect(await select(partial?.id ?? "")).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
    expect(await read(partial?.id ?? "")).toMatchObject({ active: false, failed: true });
  });
});

describe("while a generation of the chat is active", () => {
  test.each(["queued", "running"])(
    "%s: texts and places stay as they are, marks change for the next turn",
    async (state) => {
      const earlier = await say("a");
      const { id, inputMessageId } = (await post(`/chats/${chat}/generations`, { message: "Hi" })).body;
      const input = String(inputMessageId);
      const run = state === "running" ? await claimRun(api, tenant, id) : null;
      const busy = { status: 409, body: { code: "CHAT_BUSY", params: { generationId: id, status: state } } };
      expect(await patch(earlier, { content: "b" })).toMatchObject(busy);
      expect(await patch(input, { hidden: true })).toMatchObject(busy);
      expect(await remove(earlier)).toMatchObject(busy);
      for (const message of [earlier, input]) {
        const marks = { pinned: true, meta: { manualExcluded: true } };
        expect(await patch(message, marks)).toMatchObject({ status: 200, body: marks });
      }
      expect((await patch(earlier, { hidden: true })).status).toBe(200);
      if (run) await endRun(api, run, "completed", "Hello");
      else await post(`/generations/${id}/cancel`);
      expect((await patch(earlier, { content: "b" })).status).toBe(200);
    },
  );

  test("what a waiting turn is going to answer is not hidden", async () => {
    const { id: answered, inputMessageId } = (await post(`/chats/${chat}/generations`, { message: "Hi" })).body;
    await endRun(api, await claimRun(api, tenant, answered), "completed", "Hello");
    const reply = itemsOf(await get(`/chats/${chat}/messages`))[1]?.id;
    const { id: active } = (await post(`/chats/${chat}/generations`, { message: "And?" })).body;
    const run = await claimRun(api, tenant, active);
    const another = { action: "regenerate", targetMessageId: reply, onBusy: "supersede" };
    const { id } = (await post(`/chats/${chat}/generations`, another)).body;
    const busy = { status: 409, body: { code: "CHAT_BUSY", params: { generationId: id, status: "queued" } } };
    expect(await patch(String(inputMessageId), { hidden: true })).toMatchObject(busy);
    await endRun(api, run, "completed", "");
    await post(`/generations/${id}/cancel`);
    expect((await patch(String(inputMessageId), { hidden: true })).status).toBe(200);
  });

  test("no other variant is chosen", async () => {
    const { half } = await twoReplies();
    const { id } = (await post(`/chats/${chat}/generations`, { message: "And?" })).body;
    expect((await select(half)).body).toMatchObject({ code: "CHAT_BUSY", params: { generationId: id } });
  });
});

test.each([
  ["hidden", { hidden: true }],
  ["blank", { content: " " }],
])("a failed turn whose message is %s by now is not run again without it", async (_state, change) => {
  await say("earlier");
  const { id, inputMessageId } = (await post(`/chats/${chat}/generations`, { message: "Hi" })).body;
  await endRun(api, await claimRun(api, tenant, id), "failed", "");
  await patch(String(inputMessageId), change);
  expect((await post(`/generations/${id}/retry`)).body).toMatchObject({ code: "CONFLICT" });
  expect((await post(`/chats/${chat}/generations`, {})).body).toMatchObject({ errors: [{ pointer: "/message" }] });
});

async function storedSources(): Promise<string> {
  return api.admin.client.begin(async (tx) => {
    await tx`set local role none`;
    const rows = await tx<{ source: string }[]>`select meta->>'source' as source from messages where meta ? 'source'`;
    return rows.map(({ source }) => source).join("\n");
  });
}
