import { encodeId, type TerminalStatus } from "@shiftwork/contracts";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
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

const get = (path: string) => api.call("GET", `/api/v2${path}`, { key: tenant.key });
const post = (path: string, body?: unknown) => api.call("POST", `/api/v2${path}`, { key: tenant.key, body });
const generate = (body: object) => post(`/chats/${chat}/generations`, body);
const itemsOf = (answer: CallAnswer) => answer.body["items"] as { id: string; [key: string]: unknown }[];
const messages = async (query = "") => itemsOf(await get(`/chats/${chat}/messages${query}`));
const texts = async (query = "") => (await messages(query)).map(({ content }) => content);
const idOf = async (text: string, query = "?variants=all") =>
  (await messages(query)).find(({ content }) => content === text)?.id ?? "";
const branches = async () => itemsOf(await get(`/chats/${chat}/branches`));

/** Sends a turn and ends it as a worker does; returns the generation's id. */
async function turn(body: object, status: TerminalStatus, text: string): Promise<string> {
  const { id } = (await generate(body)).body;
  await endRun(api, await claimRun(api, tenant, id), status, text);
  return id;
}

async function retry(generation: string, status: TerminalStatus, text: string): Promise<string> {
  const answer = await post(`/generations/${generation}/retry`);
  expect(answer.status).toBe(202);
  await endRun(api, await claimRun(api, tenant, answer.body.id), status, text);
  return answer.body.id;
}

const again = (action: "regenerate" | "swipe", targetMessageId?: string) =>
  targetMessageId === undefined ? { action } : { action, targetMessageId };

/** What the turn would send of the chat, without the main prompt. */
async function sent(body: object): Promise<readonly string[]> {
  const answer = await post("/context-preview", { chatId: chat, include: ["providerMessages"], ...body });
  return (answer.body["providerMessages"] as { content: string }[]).slice(1).map(({ content }) => content);
}

describe("regenerate", () => {
  test("of a failed turn, three times, leaves one user message and three replies, and sends the text once", async () => {
    await turn({ message: "Hi" }, "failed", "");
    for (const reply of ["a", "b", "c"]) {
      expect(await sent(again("regenerate"))).toEqual(["Hi"]);
      await turn(again("regenerate"), "completed", reply);
    }
    const all = await messages("?variants=all");
    expect(all.map(({ role, content, active, seq }) => [role, content, active, seq])).toEqual([
      ["user", "Hi", true, 1],
      ["assistant", "a", false, 2],
      ["assistant", "b", false, 2],
      ["assistant", "c", true, 2],
    ]);
    expect(await branches()).toHaveLength(1);
    await post(`/chats/${chat}/messages/${await idOf("a")}/select`);
    expect(await texts()).toEqual(["Hi", "a"]);
  });

  test("names what it answers and what it stands beside", async () => {
    await turn({ message: "Hi" }, "completed", "a");
    const target = await idOf("a");
    const { body } = await generate(again("regenerate", target));
    expect(body).toMatchObject({ action: "regenerate", targetMessageId: target, inputMessageId: await idOf("Hi") });
  });

  test("of a reply that others stand behind goes on in a branch of its own, once the reply is there", async () => {
    for (const n of [1, 2, 3]) await turn({ message: `m${n}` }, "completed", `r${n}`);
    const target = await idOf("r2");
    expect(await sent(again("regenerate", target))).toEqual(["m1", "r1", "m2"]);
    const { id } = (await generate(again("regenerate", target))).body;
    const run = await claimRun(api, tenant, id);
    expect(await branches()).toHaveLength(1);
    await endRun(api, run, "completed", "other r2");
    expect(await texts()).toEqual(["m1", "r1", "m2", "other r2"]);
    expect(await texts("?branch=0")).toEqual(["m1", "r1", "m2", "r2", "m3", "r3"]);
    expect(await branches()).toMatchObject([
      { branch: 0, active: false, messageCount: 6 },
      { branch: 1, active: true, messageCount: 4, parentBranch: 0, forkMessageId: await idOf("m2") },
    ]);
    await turn({ message: "m3'" }, "completed", "r3'");
    expect((await texts()).slice(-3)).toEqual(["other r2", "m3'", "r3'"]);
    await turn(again("swipe", await idOf("other r2")), "completed", "third r2");
    expect(await texts()).toEqual(["m1", "r1", "m2", "third r2"]);
    expect((await branches()).at(-1)).toMatchObject({ branch: 2, parentBranch: 0, forkMessageId: await idOf("m2") });
    await turn(again("regenerate", await idOf("r1")), "completed", "other r1");
    expect(await texts()).toEqual(["m1", "other r1"]);
    expect((await branches()).at(-1)).toMatchObject({ branch: 3, parentBranch: 0 });
  });

  test("of the last reply leaves alone a branch that was forked behind it", async () => {
    await turn({ message: "m1" }, "completed", "r1");
    await post(`/chats/${chat}/branches`, { messageId: await idOf("r1"), activate: false });
    await turn(again("regenerate"), "completed", "other r1");
    expect(await texts()).toEqual(["m1", "other r1"]);
    expect(await texts("?branch=1")).toEqual(["m1", "r1"]);
  });

  test.each(["", "Hal"])("that fails with the text %o changes nothing the chat shows and sends", async (text) => {
    for (const n of [1, 2]) await turn({ message: `m${n}` }, "completed", `r${n}`);
    const before = await sent({ message: "x" });
    for (const target of ["r1", "r2"]) await turn(again("regenerate", await idOf(target)), "failed", text);
    expect(await sent({ message: "x" })).toEqual(before);
    expect(await branches()).toHaveLength(1);
    const marked = (await messages()).filter(({ failed }) => failed);
    expect(marked.map(({ content, active }) => [content, active])).toEqual(
      text === "" ? [] : Array.from({ length: 2 }, () => [text, false]),
    );
  });

  test("that is cancelled shows what came of it, and the old reply is a select away", async () => {
    await turn({ message: "m1" }, "completed", "r1");
    await turn(again("regenerate"), "cancelled", "Hal");
    expect(await texts()).toEqual(["m1", "Hal"]);
    await post(`/chats/${chat}/messages/${await idOf("r1")}/select`);
    expect(await texts()).toEqual(["m1", "r1"]);
    await turn(again("regenerate"), "cancelled", "");
    expect(await texts()).toEqual(["m1", "r1"]);
  });

  test("retried stands beside its target again, or beside what a stopped run left on its branch", async () => {
    for (const n of [1, 2]) await turn({ message: `m${n}` }, "completed", `r${n}`);
    const target = await idOf("r1");
    const failed = await turn(again("regenerate", target), "failed", "");
    const stopped = await retry(failed, "cancelled", "Hal");
    expect((await get(`/generations/${stopped}`)).body).toMatchObject({ targetMessageId: target, retryOf: failed });
    expect(await texts()).toEqual(["m1", "Hal"]);
    await retry(stopped, "completed", "other r1");
    expect(await texts()).toEqual(["m1", "other r1"]);
    expect(await texts("?branch=0")).toEqual(["m1", "r1", "m2", "r2"]);
    expect(await branches()).toHaveLength(2);
  });

  test("is refused on a retry when its reply's branch is not the active one", async () => {
    for (const n of [1, 2]) await turn({ message: `m${n}` }, "completed", `r${n}`);
    const failed = await turn(again("regenerate", await idOf("r2")), "failed", "");
    await post(`/chats/${chat}/branches`, { messageId: await idOf("r1") });
    expect((await post(`/generations/${failed}/retry`)).body).toMatchObject({ code: "CONFLICT" });
  });

  test("that takes the place of a stopped one stands behind what it answers, wherever that one has led the chat", async () => {
    await turn({ message: "m1" }, "completed", "r1");
    await turn({ message: "m2" }, "failed", "");
    const first = await claimRun(api, tenant, (await generate(again("regenerate", await idOf("r1")))).body.id);
    const waits = await generate({ ...again("regenerate"), onBusy: "supersede" });
    expect(waits.status).toBe(202);
    await endRun(api, first, "completed", "other r1");
    expect(await texts()).toEqual(["m1", "other r1"]);
    await endRun(api, await claimRun(api, tenant, waits.body.id), "completed", "r2");
    expect(await texts()).toEqual(["m1", "r1", "m2", "r2"]);
    expect(await branches()).toMatchObject([{ active: true }, { active: false, messageCount: 2 }]);
  });

  test("cannot wait in line behind an active turn", async () => {
    await turn({ message: "m1" }, "completed", "r1");
    await generate({ message: "m2" });
    const answer = await generate({ ...again("regenerate"), onBusy: "queue" });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: "/onBusy" }] } });
  });

  test("assembles what the turn it repeats assembled, seed included", async () => {
    await turn({ message: "m1" }, "completed", "r1");
    const first = (await post("/context-preview", { chatId: chat, message: "m2" })).body["assembly"];
    await turn({ message: "m2" }, "completed", "r2");
    const { hash, seed, now } = first as { hash: string; seed: string; now: string };
    const { revision } = (await get(`/chats/${chat}`)).body;
    const assembly = { hash, seed, now, chatRevision: revision };
    const preview = await post("/context-preview", { chatId: chat, ...again("regenerate"), assembly });
    expect(preview.body["assembly"]).toMatchObject({ hash, seed });
    expect(preview.body["exact"]).toBe(true);
  });
});

describe("swipe", () => {
  test("is chosen when it completes, and only then", async () => {
    await turn({ message: "m1" }, "completed", "r1");
    for (const [status, text] of [
      ["failed", "no"],
      ["cancelled", "hal"],
    ] as const)
      await turn(again("swipe"), status, text);
    expect((await messages()).filter(({ active }) => active).map(({ content }) => content)).toEqual(["m1", "r1"]);
    await turn(again("swipe"), "completed", "other r1");
    expect((await messages()).filter(({ active }) => active).map(({ content }) => content)).toEqual(["m1", "other r1"]);
  });

  test("that is stopped where others stand behind the reply forks nothing", async () => {
    for (const n of [1, 2]) await turn({ message: `m${n}` }, "completed", `r${n}`);
    await turn(again("swipe", await idOf("r1")), "cancelled", "hal");
    expect(await branches()).toHaveLength(1);
    expect(await texts()).toEqual(["m1", "r1", "m2", "r2"]);
  });
});

describe("what cannot be answered anew is refused by its field", () => {
  const refusal = async (body: object) => {
    const turns = [await generate(body), await post("/context-preview", { chatId: chat, ...body })];
    expect(turns[0]?.body["errors"]).toEqual(turns[1]?.body["errors"]);
    return turns[0];
  };

  test.each(["regenerate", "swipe"] as const)("%s takes no message", async (action) => {
    await turn({ message: "m1" }, "completed", "r1");
    expect(await refusal({ ...again(action), message: "x" })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: "/message" }] },
    });
    expect(await messages()).toHaveLength(2);
  });

  test("a reply has no target, a user's message is none, and an empty chat has none", async () => {
    const pointer = { status: 400, body: { errors: [{ pointer: "/targetMessageId" }] } };
    expect(await refusal(again("regenerate"))).toMatchObject(pointer);
    await turn({ message: "m1" }, "completed", "r1");
    expect(await refusal({ message: "x", targetMessageId: await idOf("r1") })).toMatchObject(pointer);
    expect(await refusal(again("swipe", await idOf("m1")))).toMatchObject(pointer);
  });

  test("a greeting answers nothing", async () => {
    const character = await post("/characters", { name: "Ada", firstMessage: "Hello.", alternateGreetings: ["Ahoy."] });
    chat = (await post("/chats", { characterId: character.body.id })).body.id;
    expect(await refusal(again("swipe"))).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: "/targetMessageId", fix: "Select another variant of it." }] },
    });
  });

  test("a reply on another branch names the branch to activate", async () => {
    await turn({ message: "m1" }, "completed", "r1");
    await post(`/chats/${chat}/branches`, { messageId: await idOf("m1") });
    const answer = await refusal(again("regenerate", await idOf("r1", "?branch=0")));
    expect(answer?.body["errors"]).toMatchObject([{ fix: "Activate a branch it is on, such as 0." }]);
  });

  test("another tenant's reply and one of another chat are missing", async () => {
    const other = await api.newTenant();
    await turn({ message: "m1" }, "completed", "r1");
    const target = await idOf("r1");
    const theirs = await api.call("POST", `/api/v2/chats/${chat}/generations`, { key: other.key, body: {} });
    expect(theirs.body).toMatchObject({ code: "CHAT_NOT_FOUND" });
    chat = (await post("/chats", {})).body.id;
    for (const id of [target, encodeId("message", "00000000-0000-7000-8000-000000000000")]) {
      expect((await generate(again("regenerate", id))).body).toMatchObject({ code: "MESSAGE_NOT_FOUND" });
    }
  });
});
