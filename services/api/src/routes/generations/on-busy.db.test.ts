import { decodeId, encodeId } from "@shiftwork/contracts";
import { endGeneration, findPastDeadline, loadAssemblyInput, NO_USAGE, withTenant } from "@shiftwork/db";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { claimRun, endRun } from "../../testing/act-as-worker.ts";
import { openApi, type ApiUnderTest, type CallAnswer, type TestTenant } from "../../testing/api-under-test.ts";
import { countRows } from "../../testing/count-rows.ts";

let api: ApiUnderTest;
let tenant: TestTenant;
let chat: string;
const PROMISE = { hash: null, seed: "s", now: "2026-01-01T00:00:00.000Z", chatRevision: 0 };

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
const enqueue = (message: string, more = {}) => generate({ message, onBusy: "queue", ...more });
const supersede = (message: string) => generate({ message, onBusy: "supersede" });
const cancel = (id: string) => post(`/generations/${id}/cancel`);
const read = async (id: string) => (await get(`/generations/${id}`)).body;
const statusesOf = async (...ids: string[]) => Promise.all(ids.map(async (id) => (await read(id))["status"]));
const uuidOf = (id: string) => decodeId("generation", id) ?? "";

/** The chat's texts in order; those of others' variants left out. */
async function textsOf(): Promise<readonly unknown[]> {
  const { items } = (await get(`/chats/${chat}/messages?limit=200`)).body as unknown as {
    items: { content: string }[];
  };
  return items.map(({ content }) => content);
}

async function run(id: string, reply: string): Promise<void> {
  await endRun(api, await claimRun(api, tenant, id), "completed", reply);
}

/** What the model would be sent for a generation that may begin. */
async function historyOf(id: string): Promise<readonly string[]> {
  const { inputMessageId } = await read(id);
  const query = {
    chatId: decodeId("chat", chat) ?? "",
    inputMessageId: decodeId("message", String(inputMessageId)),
    draft: null,
    personaId: null,
    lorebookIds: null,
    window: null,
  };
  const input = await withTenant(api.worker.db, tenant.id, (tx) => loadAssemblyInput(tx, tenant.id, query));
  return input?.conversation.messages.map(({ content }) => content) ?? [];
}

/** Generations that nothing will ever release, and chats with two that may run at once. */
async function brokenInvariants(): Promise<readonly unknown[]> {
  return api.admin.client.begin(async (tx) => {
    await tx`set local role none`;
    const stuck = await tx`
      select waiting.id from generations as waiting
      where waiting.status = 'queued' and waiting.blocked_by is not null and not exists (
        select from generations as active
        where active.id = waiting.blocked_by and active.chat_id = waiting.chat_id and active.status in ('queued', 'running')
      )
    `;
    const doubled = await tx`
      select chat_id from generations where status in ('queued', 'running') and blocked_by is null
      group by chat_id having count(*) > 1
    `;
    const nothingToAnswer = await tx`
      select id from generations
      where status in ('queued', 'running') and chat_id is not null and blocked_by is null and input_message_id is null
    `;
    return [...stuck, ...doubled, ...nothingToAnswer];
  });
}

describe("onBusy: queue", () => {
  test("turns wait in line; each begins when the one before has ended, and sees exactly what was said before it", async () => {
    const first = (await enqueue("one")).body;
    expect(first).toMatchObject({ status: "queued", queue: { blockedBy: null } });
    const running = await claimRun(api, tenant, first.id);
    const second = (await enqueue("two")).body;
    const third = (await enqueue("three")).body;
    expect(second).toMatchObject({ status: "queued", inputMessageId: null, queue: { blockedBy: first.id } });
    expect(third).toMatchObject({ queue: { blockedBy: second.id } });
    expect(second["seed"]).not.toBe(third["seed"]);
    expect(await textsOf()).toEqual(["one"]);
    await expect(claimRun(api, tenant, second.id)).rejects.toThrow("cannot be claimed");

    const { revision } = (await get(`/chats/${chat}`)).body;
    await endRun(api, running, "completed", "first reply");
    expect((await get(`/chats/${chat}`)).body["revision"]).toBe(Number(revision) + 2);
    expect(await read(second.id)).toMatchObject({ inputMessageId: expect.any(String), queue: { blockedBy: null } });
    expect(await read(third.id)).toMatchObject({ inputMessageId: null, queue: { blockedBy: second.id } });
    expect(await historyOf(second.id)).toEqual(["one", "first reply", "two"]);

    await run(second.id, "second reply");
    expect(await historyOf(third.id)).toEqual(["one", "first reply", "two", "second reply", "three"]);
    await run(third.id, "third reply");
    expect(await textsOf()).toEqual(["one", "first reply", "two", "second reply", "three", "third reply"]);
    expect(await brokenInvariants()).toEqual([]);
  });

  test("a turn behind one that fails, or is cancelled while it runs, begins all the same", async () => {
    const failing = (await enqueue("one")).body.id;
    const stopped = (await enqueue("two")).body.id;
    const last = (await enqueue("three")).body.id;
    await endRun(api, await claimRun(api, tenant, failing), "failed", "");
    const running = await claimRun(api, tenant, stopped);
    expect((await cancel(stopped)).status).toBe(202);
    await endRun(api, running, "completed", "cut off");
    expect(await historyOf(last)).toEqual(["one", "two", "cut off", "three"]);
  });

  test("cancelling the first of the line before it runs lets the second begin at once", async () => {
    const [first, second] = [(await enqueue("one")).body.id, (await enqueue("two")).body.id];
    expect((await cancel(first)).body).toMatchObject({ status: "cancelled" });
    expect(await historyOf(second)).toEqual(["one", "two"]);
    await run(second, "reply");
  });

  test("cancelling in the middle closes the gap, and leaves no message behind", async () => {
    const first = (await enqueue("one")).body.id;
    const running = await claimRun(api, tenant, first);
    const middle = (await enqueue("two")).body.id;
    const last = (await enqueue("three")).body.id;
    expect(await cancel(middle)).toMatchObject({
      status: 200,
      body: { status: "cancelled", queue: { blockedBy: null } },
    });
    expect(await read(last)).toMatchObject({ queue: { blockedBy: first } });
    expect(await brokenInvariants()).toEqual([]);
    await endRun(api, running, "completed", "reply");
    expect(await historyOf(last)).toEqual(["one", "reply", "three"]);
  });

  test("raced against the cancel of the one it would wait for, a turn is never left waiting for nothing", async () => {
    for (let round = 0; round < 15; round += 1) {
      const first = (await enqueue("one")).body.id;
      const [, second, third] = await Promise.all([cancel(first), enqueue("two"), enqueue("three")]);
      expect(await brokenInvariants()).toEqual([]);
      await Promise.all([cancel(second.body.id), cancel(third.body.id)]);
    }
  });

  test("what was cancelled while it waited can be retried: its message enters the chat then, once", async () => {
    const first = (await enqueue("one")).body.id;
    const running = await claimRun(api, tenant, first);
    const waiting = (await enqueue("two")).body.id;
    await cancel(waiting);
    expect((await post(`/generations/${waiting}/retry`)).body).toMatchObject({ code: "CHAT_BUSY" });
    await endRun(api, running, "completed", "reply");
    const again = await post(`/generations/${waiting}/retry`);
    expect(again).toMatchObject({ status: 202, body: { retryOf: waiting, status: "queued" } });
    expect(await historyOf(again.body.id)).toEqual(["one", "reply", "two"]);
    await endRun(api, await claimRun(api, tenant, again.body.id), "failed", "");
    const third = await post(`/generations/${waiting}/retry`);
    expect(await historyOf(third.body.id)).toEqual(["one", "reply", "two"]);
  });

  test("time spent waiting counts: at its deadline a waiting turn fails, and the one behind it moves up", async () => {
    const first = (await enqueue("one")).body.id;
    const running = await claimRun(api, tenant, first);
    const late = (await enqueue("two", { deadlineMs: 1_000 })).body.id;
    const last = (await enqueue("three")).body.id;
    await api.admin.client.begin(async (tx) => {
      await tx`set local role none`;
      await tx`update generations set deadline_at = now() - interval '1 s' where id = ${uuidOf(late)}`;
    });
    const due = await findPastDeadline(api.worker.db, 0, 10);
    expect(due.map(({ generationId }) => generationId)).toEqual([uuidOf(late)]);
    await withTenant(api.worker.db, tenant.id, (tx) =>
      endGeneration(tx, {
        tenantId: tenant.id,
        generationId: uuidOf(late),
        chatId: decodeId("chat", chat),
        expected: { status: "queued", epoch: 0 },
        status: "failed",
        error: null,
        finishReason: null,
        usage: NO_USAGE,
        text: "",
        toolCalls: [],
        firstTokenAt: null,
        context: null,
        stages: null,
        anchorMessageId: null,
        auditPatch: {},
      }),
    );
    expect(await read(last)).toMatchObject({ queue: { blockedBy: first } });
    await endRun(api, running, "completed", "reply");
    expect(await historyOf(last)).toEqual(["one", "reply", "three"]);
  });

  test("deleting the chat ends the whole line and takes the waiting texts along", async () => {
    const first = (await enqueue("one")).body.id;
    await claimRun(api, tenant, first);
    const [second, third] = [(await enqueue("two")).body.id, (await enqueue("three")).body.id];
    await api.call("DELETE", `/api/v2/chats/${chat}`, { key: tenant.key });
    expect(await statusesOf(first, second, third)).toEqual(["cancelled", "cancelled", "cancelled"]);
    expect(await brokenInvariants()).toEqual([]);
    const { rows } = await api.admin.client.begin(async (tx) => {
      await tx`set local role none`;
      return {
        rows: await tx`select from generation_contents where generation_id in ${tx([second, third].map(uuidOf))}`,
      };
    });
    expect(rows).toHaveLength(0);
  });

  test("those that wait fill the tenant's queue too", async () => {
    const small = await api.newTenant({ maxQueued: 2 });
    const { id } = (await api.call("POST", "/api/v2/chats", { key: small.key, body: {} })).body;
    const send = () =>
      api.call("POST", `/api/v2/chats/${id}/generations`, { key: small.key, body: { message: "x", onBusy: "queue" } });
    expect([(await send()).status, (await send()).status]).toEqual([202, 202]);
    expect(await send()).toMatchObject({ status: 429, body: { code: "QUEUE_FULL" } });
  });

  test("on an idle chat it is a turn like any other", async () => {
    const { id } = (await enqueue("one", { priority: 1 })).body;
    expect(await read(id)).toMatchObject({
      queue: { blockedBy: null, priority: 1 },
      inputMessageId: expect.any(String),
    });
  });
});

describe("onBusy: supersede", () => {
  test("everything that waits is cancelled, and a turn nobody runs for makes way at once", async () => {
    const [first, second] = [(await enqueue("one")).body.id, (await enqueue("two")).body.id];
    const { body } = await supersede("three");
    expect(body).toMatchObject({ status: "queued", queue: { blockedBy: null } });
    expect(await statusesOf(first, second)).toEqual(["cancelled", "cancelled"]);
    expect(api.removedJobs).toContainEqual({ generationId: uuidOf(first), epoch: 0 });
    expect(await historyOf(body.id)).toEqual(["one", "three"]);
    const [row] = await reasonsOf(first);
    expect(row).toEqual({ reason: "superseded" });
  });

  test("a running turn is told to stop, and the new one begins when it has", async () => {
    const first = (await enqueue("one")).body.id;
    const running = await claimRun(api, tenant, first);
    const second = (await enqueue("two")).body.id;
    const third = (await supersede("three")).body;
    expect(third).toMatchObject({ queue: { blockedBy: first } });
    expect(await statusesOf(first, second)).toEqual(["cancelling", "cancelled"]);
    const fourth = (await supersede("four")).body;
    expect(fourth).toMatchObject({ queue: { blockedBy: first } });
    await endRun(api, running, "completed", "half a re");
    expect(await statusesOf(first, third.id, fourth.id)).toEqual(["cancelled", "cancelled", "queued"]);
    expect(await historyOf(fourth.id)).toEqual(["one", "half a re", "four"]);
  });

  test("without a message the same one is answered anew", async () => {
    const first = (await generate({ message: "one" })).body;
    const running = await claimRun(api, tenant, first.id);
    const again = (await generate({ onBusy: "supersede" })).body;
    expect(again).toMatchObject({ inputMessageId: first["inputMessageId"], queue: { blockedBy: first.id } });
    await endRun(api, running, "cancelled", "half");
    await run(again.id, "whole");
    expect(await textsOf()).toEqual(["one", "whole"]);
  });

  test("raced against the run's end, the old one completes or is cancelled, and the new one begins exactly once", async () => {
    for (let round = 0; round < 10; round += 1) {
      const before = (await supersede(`old ${round}`)).body.id;
      const running = await claimRun(api, tenant, before);
      const [next] = await Promise.all([
        supersede(`new ${round}`),
        endRun(api, running, "completed", `reply ${round}`),
      ]);
      expect(["completed", "cancelled"]).toContain((await read(before))["status"]);
      expect(await brokenInvariants()).toEqual([]);
      expect((await historyOf(next.body.id)).slice(-3)).toEqual([`old ${round}`, `reply ${round}`, `new ${round}`]);
      await run(next.body.id, "ok");
    }
  });
});

describe("a hundred turns at once on one chat", () => {
  test.each(["reject", "queue", "supersede"] as const)(
    "%s: one at a time, nothing stuck, nothing lost",
    async (onBusy) => {
      const turns = Array.from({ length: 100 }, (_, n) => generate({ message: `m${n}`, onBusy }));
      const answers = await Promise.all(turns);
      const accepted = answers.filter(({ status }) => status === 202).map(({ body }) => body.id);
      expect(accepted).toHaveLength(onBusy === "reject" ? 1 : 100);
      expect(await brokenInvariants()).toEqual([]);
      const completed = await runAll();
      expect(completed).toHaveLength(onBusy === "queue" ? 100 : 1);
      expect(new Set(await statusesOf(...accepted))).toEqual(
        new Set(onBusy === "supersede" ? ["completed", "cancelled"] : ["completed"]),
      );
      const texts = await textsOf();
      if (onBusy !== "queue") return;
      expect(texts.filter((_text, at) => at % 2 === 1)).toEqual(completed.map((id) => `to ${id}`));
    },
  );

  test("all three mixed while a worker works: every accepted turn ends, and every reply stands behind its message", async () => {
    const modes = ["queue", "supersede", "queue", "reject"] as const;
    const turns = Promise.all(
      Array.from({ length: 100 }, (_, n) => generate({ message: `m${n}`, onBusy: modes[n % modes.length] })),
    );
    const answers: CallAnswer[] = [];
    const all = turns.then((given) => answers.push(...given));
    do await runAll();
    while (answers.length === 0);
    await all;
    await runAll();
    const accepted = answers.filter(({ status }) => status === 202).map(({ body }) => body.id);
    const statuses = await statusesOf(...accepted);
    expect(statuses.filter((status) => status !== "completed" && status !== "cancelled")).toEqual([]);
    expect(await misplacedReplies()).toEqual([]);
  });
});

describe("what cannot be meant is refused by the field's name", () => {
  test.each([
    ["an unknown mode", { message: "x", onBusy: "wait" }, "/onBusy"],
    ["a priority of 0", { message: "x", priority: 0 }, "/priority"],
    ["a priority of 10", { message: "x", priority: 10 }, "/priority"],
    ["a promise of a turn that may wait", { message: "x", onBusy: "queue", assembly: PROMISE }, "/assembly"],
    ["a promise of a turn that stops another", { message: "x", onBusy: "supersede", assembly: PROMISE }, "/assembly"],
    ["waiting to answer nothing", { onBusy: "queue" }, "/message"],
  ])("%s", async (_case, body, pointer) => {
    await generate({ message: "busy" });
    const before = await countRows(api.admin);
    expect(await generate(body)).toMatchObject({
      status: 400,
      body: { code: "VALIDATION_FAILED", errors: [{ pointer }] },
    });
    expect(await countRows(api.admin)).toEqual(before);
  });

  test("a superseding turn that is refused stops nothing", async () => {
    const { id } = (await generate({ message: "busy" })).body;
    const refused = await generate({ message: "x", onBusy: "supersede", contextStrategy: "magic" });
    expect(refused.status).toBe(422);
    expect(await statusesOf(id)).toEqual(["queued"]);
  });
});

/** Ends whatever of the chat may run until nothing is left; returns what it ran, in that order. */
async function runAll(): Promise<readonly string[]> {
  const ran: string[] = [];
  for (;;) {
    const [next] = await api.admin.client.begin(async (tx) => {
      await tx`set local role none`;
      return tx<{ id: string }[]>`
        select id from generations where chat_id = ${decodeId("chat", chat)} and status = 'queued' and blocked_by is null
      `;
    });
    if (!next) return ran;
    const id = encodeId("generation", next.id);
    const claim = await claimRun(api, tenant, id).catch(() => null);
    if (claim === null) continue;
    await endRun(api, claim, "completed", `to ${id}`);
    ran.push(id);
  }
}

async function reasonsOf(id: string) {
  return api.admin.client.begin(async (tx) => {
    await tx`set local role none`;
    return tx`select cancel_reason as reason from generations where id = ${uuidOf(id)}`;
  });
}

async function misplacedReplies(): Promise<readonly unknown[]> {
  return api.admin.client.begin(async (tx) => {
    await tx`set local role none`;
    return tx`
      select reply.id from messages as reply
      join generations as g on g.id = reply.generation_id
      left join messages as input on input.id = g.input_message_id
      where reply.chat_id = ${decodeId("chat", chat)} and reply.seq is distinct from input.seq + 1
    `;
  });
}
