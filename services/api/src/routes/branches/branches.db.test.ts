import { afterAll, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { claimRun, endRun } from "../../testing/act-as-worker.ts";
import { openApi, type ApiUnderTest, type CallAnswer, type TestTenant } from "../../testing/api-under-test.ts";

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

const get = (path: string, key = tenant.key) => api.call("GET", `/api/v2${path}`, { key });
const post = (path: string, body?: unknown, headers: { readonly [name: string]: string } = {}) =>
  api.call("POST", `/api/v2${path}`, { key: tenant.key, body, headers });
const say = async (content: string) => (await post(`/chats/${chat}/messages`, { content })).body.id;
const fork = (messageId: string, more: object = {}) => post(`/chats/${chat}/branches`, { messageId, ...more });
const activate = (branch: number | string) => post(`/chats/${chat}/branches/${branch}/activate`);
const itemsOf = (answer: CallAnswer) => answer.body["items"] as { id: string; [key: string]: unknown }[];
const texts = async (query = "") => itemsOf(await get(`/chats/${chat}/messages${query}`)).map(({ content }) => content);
const branches = async () => itemsOf(await get(`/chats/${chat}/branches`));
const revision = async () => (await get(`/chats/${chat}`)).body["revision"];

/** What a turn would send of the chat. */
async function sent(): Promise<readonly unknown[]> {
  const body = { chatId: chat, message: "And now?", include: ["providerMessages"] };
  const answer = await post("/context-preview", body);
  return (answer.body["providerMessages"] as { content: string }[]).map(({ content }) => content);
}

test("a fork shares what stands up to its message; each branch goes on for itself, in lists and prompts", async () => {
  const [one, two] = [await say("one"), await say("two")];
  await say("three");
  const forked = await fork(one);
  expect(forked).toMatchObject({
    status: 201,
    body: { branch: 1, parentBranch: 0, forkMessageId: one, lastMessageId: one, messageCount: 1, active: true },
  });
  const other = await say("another two");
  expect(await texts()).toEqual(["one", "another two"]);
  expect(await texts("?branch=0")).toEqual(["one", "two", "three"]);
  expect((await sent()).slice(-3)).toEqual(["one", "another two", "And now?"]);
  const again = await fork(two, { activate: false });
  expect(again.body).toMatchObject({ branch: 2, parentBranch: 0, forkMessageId: two, messageCount: 2, active: false });
  expect(await texts(`?branch=2`)).toEqual(["one", "two"]);
  expect(await branches()).toMatchObject([
    { branch: 0, parentBranch: null, forkMessageId: null, messageCount: 3, active: false },
    { branch: 1, lastMessageId: other, messageCount: 2, active: true },
    { branch: 2, lastMessageId: two, active: false },
  ]);
  expect(await activate(0)).toMatchObject({ status: 200, body: { branch: 0, active: true } });
  expect((await get(`/chats/${chat}`)).body).toMatchObject({ activeBranch: 0 });
  expect((await sent()).slice(-4)).toEqual(["one", "two", "three", "And now?"]);
});

test("another active branch is a new revision; a fork that stays aside, and activating the active one, are none", async () => {
  const id = await say("one");
  const before = Number(await revision());
  await fork(id, { activate: false });
  await activate(0);
  expect(await revision()).toBe(before);
  await activate(1);
  expect(await revision()).toBe(before + 1);
  await fork(id);
  expect(await revision()).toBe(before + 2);
});

test("a promise made on another branch is refused", async () => {
  const id = await say("one");
  const { assembly } = (await post("/context-preview", { chatId: chat, message: "And now?" })).body;
  await fork(id);
  const turn = { message: "And now?", assembly };
  expect((await post(`/chats/${chat}/generations`, turn)).body).toMatchObject({ code: "ASSEMBLY_CHANGED" });
});

test("while something is generated, forks and activations are refused with its id", async () => {
  const id = await say("one");
  await fork(id, { activate: false });
  const { body } = await post(`/chats/${chat}/generations`, {});
  for (const answer of [await fork(id), await fork(id, { activate: false }), await activate(1)]) {
    expect(answer).toMatchObject({ status: 409, body: { code: "CHAT_BUSY", params: { generationId: body.id } } });
  }
  expect(await branches()).toHaveLength(2);
  await endRun(api, await claimRun(api, tenant, body.id), "completed", "Hello");
  expect((await activate(1)).status).toBe(200);
});

test("a turn and its retry stand on the active branch, also where it forks", async () => {
  const [one] = [await say("one"), await say("two")];
  await fork(one);
  const first = (await post(`/chats/${chat}/generations`, {})).body;
  expect(first["inputMessageId"]).toBe(one);
  await endRun(api, await claimRun(api, tenant, first.id), "failed", "Hal");
  await activate(0);
  expect((await post(`/generations/${first.id}/retry`)).body).toMatchObject({ code: "CONFLICT" });
  await activate(1);
  const again = (await post(`/generations/${first.id}/retry`)).body;
  await endRun(api, await claimRun(api, tenant, again.id), "completed", "Hello");
  expect(await texts()).toEqual(["one", "Hal", "Hello"]);
  expect(await texts("?branch=0")).toEqual(["one", "two"]);
});

test("a message that is not the chosen variant cannot be forked behind", async () => {
  const input = await say("one");
  const { id } = (await post(`/chats/${chat}/generations`, {})).body;
  await endRun(api, await claimRun(api, tenant, id), "failed", "Hal");
  const half = itemsOf(await get(`/chats/${chat}/messages`)).at(-1)?.id ?? "";
  expect(await fork(half)).toMatchObject({ status: 409, body: { code: "CONFLICT" } });
  expect((await fork(input)).status).toBe(201);
});

test("a list goes on along the branch it began on when another one becomes active", async () => {
  const one = await say("one");
  await say("two");
  await fork(one, { activate: false });
  const page = (await get(`/chats/${chat}/messages?limit=1`)).body;
  await activate(1);
  await say("another two");
  expect(await texts(`?limit=1&cursor=${String(page["nextCursor"])}`)).toEqual(["two"]);
  const numbers = itemsOf(await get(`/chats/${chat}/branches?limit=1`));
  const rest = (await get(`/chats/${chat}/branches?limit=1`)).body["nextCursor"];
  const next = itemsOf(await get(`/chats/${chat}/branches?limit=1&cursor=${String(rest)}`));
  expect([...numbers, ...next].map(({ branch }) => branch)).toEqual([0, 1]);
});

test.each(["7", "-1", "one", "1.5", "99999999999"])(
  "branch %s, which the chat does not have, is missing",
  async (branch) => {
    await fork(await say("one"));
    expect(await activate(branch)).toMatchObject({ status: 404, body: { code: "BRANCH_NOT_FOUND" } });
    const listed = await get(`/chats/${chat}/messages?branch=${branch}`);
    expect([400, 404]).toContain(listed.status);
  },
);

test("another tenant's chat has no branches to see, fork or activate, and another chat's message is missing", async () => {
  const id = await say("one");
  await fork(id);
  const other = await api.newTenant();
  const paths = [
    ["GET", "branches", undefined],
    ["GET", "messages?branch=1", undefined],
    ["POST", "branches", { messageId: id }],
    ["POST", "branches/1/activate", undefined],
  ] as const;
  for (const [method, path, body] of paths) {
    const answer = await api.call(method, `/api/v2/chats/${chat}/${path}`, { key: other.key, body });
    expect(answer).toMatchObject({ status: 404, body: { code: "CHAT_NOT_FOUND" } });
  }
  chat = (await post("/chats", {})).body.id;
  expect(await fork(id)).toMatchObject({ status: 404, body: { code: "MESSAGE_NOT_FOUND" } });
  expect(await branches()).toHaveLength(1);
});

test("a repeated fork under one key is one branch", async () => {
  const id = await say("one");
  const headers = { "idempotency-key": "fork-once" };
  const send = () => post(`/chats/${chat}/branches`, { messageId: id }, headers);
  expect((await send()).body).toEqual((await send()).body);
  expect(await branches()).toHaveLength(2);
});
