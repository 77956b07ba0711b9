import { decodeId } from "@shiftwork/contracts";
import { takeUpBulkAction } from "@shiftwork/db";
import { loadPlugins, createLogger } from "@shiftwork/platform";
import { uuidv7 } from "uuidv7";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { cancelBatch } from "../../bulk-actions/change-batch.ts";
import { retryEach } from "../../bulk-actions/retry-each.ts";
import { runBulkActions } from "../../bulk-actions/run-bulk-actions.ts";
import { claimRun, endRun } from "../../testing/act-as-worker.ts";
import { openApi, type ApiUnderTest, type TestTenant } from "../../testing/api-under-test.ts";
import { failedTurn, sendTurn } from "../../testing/failed-run.ts";

let api: ApiUnderTest;
let tenant: TestTenant;

beforeAll(async () => {
  api = await openApi(inject("databaseUrl"));
});
afterAll(() => api.close());
beforeEach(async () => {
  tenant = await api.newTenant();
});

const get = (path: string) => api.call("GET", `/api/v2${path}`, { key: tenant.key });
const post = (path: string, body?: unknown, headers = {}, key = tenant.key) =>
  api.call("POST", `/api/v2${path}`, { key, body, headers });
const act = (body: object, headers = {}) => post("/bulk-actions", body, headers);
const statusOf = async (id: string) => (await get(`/generations/${id}`)).body["status"];
const stateOf = async (id: string) => (await get(`/dead-letters/${id}`)).body["state"];

async function turns(count: number, turn = {}): Promise<string[]> {
  const sent: string[] = [];
  for (let at = 0; at < count; at += 1) sent.push((await sendTurn(api, tenant, turn)).generation);
  return sent;
}

async function failures(count: number): Promise<string[]> {
  const failed: string[] = [];
  for (let at = 0; at < count; at += 1) failed.push(await failedTurn(api, tenant, "a"));
  return failed;
}

describe("asking", () => {
  test("a dry run counts and shows the oldest, and does nothing", async () => {
    const [first, second] = await turns(2);
    const answer = await act({ action: "cancel", filter: {}, all: true, dryRun: true });
    expect(answer).toMatchObject({
      status: 200,
      body: { object: "bulk_action_preview", count: { count: 2, capped: false }, sample: [first, second] },
    });
    expect((await get("/bulk-actions")).body["items"]).toEqual([]);
    await api.runBulkActions();
    expect(await statusOf(first ?? "")).toBe("queued");
  });

  test.each<[string, object, string]>([
    ["an empty filter that is not meant", { action: "cancel", filter: {} }, "/filter"],
    ["neither a filter nor ids", { action: "cancel" }, "/filter"],
    ["a filter and ids", { action: "cancel", filter: { model: "m" }, ids: [`gen_${"0".repeat(32)}`] }, "/filter"],
    ["a discard without a note", { action: "discard", filter: { model: "m" } }, "/note"],
    ["an unknown condition", { action: "cancel", filter: { model: "m", mood: "bad" } }, "/filter/mood"],
    ["a status that is none", { action: "cancel", filter: { status: ["bad"] } }, "/filter/status/0"],
    ["another action", { action: "delete", filter: { model: "m" } }, "/action"],
  ])("%s is refused by its name", async (_name, body, pointer) => {
    expect(await act(body)).toMatchObject({ status: 400, body: { code: "VALIDATION_FAILED", errors: [{ pointer }] } });
  });

  test("the same Idempotency-Key makes one action", async () => {
    const body = { action: "cancel", filter: { model: "m" } };
    const once = { "idempotency-key": "k" };
    const [first, again] = [await act(body, once), await act(body, once)];
    expect(again.body.id).toBe(first.body.id);
    expect((await get("/bulk-actions")).body["items"]).toHaveLength(1);
  });

  test("to cancel takes one scope, to retry and discard the other", async () => {
    const [cancels, writes] = [await keyWith("generations:cancel"), await keyWith("generations:write")];
    const ask = async (action: string, key: string) =>
      (await post("/bulk-actions", { action, filter: { model: "m" }, note: "n" }, {}, key)).status;
    expect([await ask("cancel", cancels), await ask("retry", cancels), await ask("discard", cancels)]).toEqual([
      202, 403, 403,
    ]);
    expect([await ask("cancel", writes), await ask("retry", writes), await ask("discard", writes)]).toEqual([
      403, 202, 202,
    ]);
  });

  test("an owner's action is for their own, and another owner's is missing", async () => {
    const [theirs] = await turns(1);
    const me = { "x-owner-id": "me" };
    const mine = (await sendTurn(api, tenant, {}, me)).generation;
    const action = await act({ action: "cancel", filter: {}, all: true }, me);
    await api.runBulkActions();
    expect([await statusOf(mine), await statusOf(theirs ?? "")]).toEqual(["cancelled", "queued"]);
    const seen = await api.call("GET", `/api/v2/bulk-actions/${action.body.id}`, {
      key: tenant.key,
      headers: { "x-owner-id": "you" },
    });
    expect(seen.body["code"]).toBe("BULK_ACTION_NOT_FOUND");
  });
});

describe("cancel", () => {
  test("ends what waits, tells what runs, and leaves the rest, in batches", async () => {
    const sent = await turns(5);
    const running = (await turns(1))[0] ?? "";
    await claimRun(api, tenant, running);
    const failed = await failedTurn(api, tenant, "a");
    const action = await act({ action: "cancel", filter: { model: "gpt-4o" }, note: "maintenance" });
    expect(action).toMatchObject({ status: 202, body: { status: "queued", progress: { total: { count: 6 } } } });
    expect(action.headers["location"]).toBe(`/api/v2/bulk-actions/${action.body.id}`);
    await api.runBulkActions(2);
    expect(await Promise.all(sent.map(statusOf))).toEqual(sent.map(() => "cancelled"));
    expect([await statusOf(running), await statusOf(failed)]).toEqual(["cancelling", "failed"]);
    expect((await get(`/bulk-actions/${action.body.id}`)).body).toMatchObject({
      status: "completed",
      progress: { done: 6, succeeded: 6, skipped: 0, failed: 0 },
    });
    const removed = api.removedJobs.map(({ generationId }) => generationId);
    expect(removed).toEqual(expect.arrayContaining(sent.map((id) => decodeId("generation", id))));
  });

  test("a line longer than a batch ends as a whole: none of it moves up and begins in between", async () => {
    for (const by of ["filter", "ids"]) {
      const { chat, generation } = await sendTurn(api, tenant);
      const line = [generation];
      for (let at = 0; at < 4; at += 1) {
        line.push((await post(`/chats/${chat}/generations`, { message: "More.", onBusy: "queue" })).body.id);
      }
      const action = await act({ action: "cancel", ...(by === "ids" ? { ids: line } : { filter: { chatId: chat } }) });
      await api.runBulkActions(2);
      expect(await Promise.all(line.map(statusOf))).toEqual(line.map(() => "cancelled"));
      expect((await get(`/bulk-actions/${action.body.id}`)).body).toMatchObject({
        status: "completed",
        progress: { done: 5, succeeded: 5, skipped: 0 },
      });
      expect((await get(`/chats/${chat}/messages`)).body["items"]).toMatchObject([{ content: "Hi" }]);
    }
  });

  test("a batch takes no more of a line than fits in it, from its end, and the next one goes on there", async () => {
    const { chat, generation } = await sendTurn(api, tenant);
    const line = [generation];
    for (let at = 0; at < 4; at += 1) {
      line.push((await post(`/chats/${chat}/generations`, { message: "More.", onBusy: "queue" })).body.id);
    }
    const action = await act({ action: "cancel", filter: { chatId: chat } });
    const held = await takeUpBulkAction(api.admin.db, uuidv7(), 15_000);
    if (!held) throw new Error("nothing was taken up");
    const oldest = line.slice(0, 2).map((id) => decodeId("generation", id) ?? "");
    await cancelBatch({ ...(await runner()), batchSize: 2 }, held, oldest);
    expect(await Promise.all(line.map(statusOf))).toEqual(["queued", "queued", "queued", "cancelled", "cancelled"]);
    await endPause(action.body.id);
    await api.runBulkActions(2);
    expect(await Promise.all(line.map(statusOf))).toEqual(line.map(() => "cancelled"));
    expect((await get(`/bulk-actions/${action.body.id}`)).body).toMatchObject({ progress: { done: 5, succeeded: 5 } });
    expect((await get(`/chats/${chat}/messages`)).body["items"]).toMatchObject([{ content: "Hi" }]);
  });

  test("what waits behind them and is not meant moves up", async () => {
    const { chat, generation } = await sendTurn(api, tenant);
    const wait = async (team: string) =>
      (await post(`/chats/${chat}/generations`, { message: team, metadata: { team }, onBusy: "queue" })).body.id;
    const [stays, goes] = [await wait("b"), await wait("a")];
    await act({ action: "cancel", ids: [generation] });
    await act({ action: "cancel", filter: { chatId: chat, meta: { team: "a" } } });
    await api.runBulkActions(1);
    expect(await Promise.all([generation, stays, goes].map(statusOf))).toEqual(["cancelled", "queued", "cancelled"]);
    expect((await get(`/chats/${chat}/messages`)).body["items"]).toHaveLength(2);
  });

  test("every cancelled one has its terminal event and its reason", async () => {
    const [id] = await turns(1);
    await act({ action: "cancel", ids: [id], note: "why" });
    await api.runBulkActions();
    const uuid = decodeId("generation", id ?? "") ?? "";
    const [row] = await api.worker.client`select cancel_reason as reason from generations where id = ${uuid}`;
    expect(row).toEqual({ reason: "why" });
    const events = await api.database.client.begin(async (tx) => {
      await tx`select set_config('app.tenant_id', ${tenant.id}, true)`;
      return tx`select type from generation_events where generation_id = ${uuid} order by seq`;
    });
    expect(events.map((event) => event["type"])).toEqual(["generation.queued", "generation.cancelled"]);
  });

  test("the filter is looked at again when it runs, and what came after the action is not touched", async () => {
    const [before] = await turns(1, { metadata: { team: "a" } });
    const action = await act({ action: "cancel", filter: { meta: { team: "a" } } });
    await api.admin.client`update bulk_actions set created_at = now() where id = ${uuidOf(action.body.id)}`;
    const [after] = await turns(1, { metadata: { team: "a" } });
    await api.runBulkActions();
    expect([await statusOf(before ?? ""), await statusOf(after ?? "")]).toEqual(["cancelled", "queued"]);
  });

  test("another tenant's are never among them", async () => {
    const other = await api.newTenant();
    const theirs = (await sendTurn(api, other)).generation;
    await act({ action: "cancel", filter: {}, all: true });
    await api.runBulkActions();
    const seen = await api.call("GET", `/api/v2/generations/${theirs}`, { key: other.key });
    expect(seen.body["status"]).toBe("queued");
  });
});

describe("retry and discard", () => {
  test("every failure is retried once, by its own chat, and its letter is closed", async () => {
    const failed = await failures(3);
    const action = await act({ action: "retry", filter: { errorFingerprint: "a" } });
    await api.runBulkActions();
    expect((await get(`/bulk-actions/${action.body.id}`)).body).toMatchObject({
      status: "completed",
      progress: { done: 3, succeeded: 3 },
    });
    const queued = (await get("/generations?status=queued&sort=createdAt")).body["items"] as { retryOf: string }[];
    expect(queued.map(({ retryOf }) => retryOf)).toEqual(failed);
    expect(await Promise.all(failed.map(stateOf))).toEqual(["retried", "retried", "retried"]);
  });

  test("one whose chat is busy, or that is not in a state for it, is skipped by its reason; the others go on", async () => {
    const [busy, free] = await failures(2);
    const { chatId } = (await get(`/generations/${busy}`)).body;
    await post(`/chats/${String(chatId)}/generations`, {});
    const [done] = await turns(1);
    await endRun(api, await claimRun(api, tenant, done ?? ""), "completed", "Hello.");
    const action = await act({ action: "retry", ids: [busy, done, free] });
    await api.runBulkActions();
    const { body } = await get(`/bulk-actions/${action.body.id}`);
    expect(body).toMatchObject({ status: "completed", progress: { done: 3, succeeded: 1, skipped: 2, failed: 0 } });
    expect(body).toMatchObject({ skips: { chat_busy: 1, not_in_state: 1 }, failures: {} });
    expect(await stateOf(free ?? "")).toBe("retried");
  });

  test("of the failed turns of a chat only the last can be answered; the others are skipped, not failed", async () => {
    const { chat, generation: first } = await sendTurn(api, tenant);
    await fail(first);
    const second = (await post(`/chats/${chat}/generations`, { message: "Are you there?" })).body.id;
    await fail(second);
    const action = await act({ action: "retry", filter: { status: ["failed"] } });
    await api.runBulkActions();
    expect((await get(`/bulk-actions/${action.body.id}`)).body).toMatchObject({
      progress: { done: 2, succeeded: 1, skipped: 1, failed: 0 },
      skips: { chat_moved_on: 1 },
    });
    expect([await stateOf(first), await stateOf(second)]).toEqual(["open", "retried"]);
  });

  test("of several tries of one turn the newest is retried, once, whatever their order", async () => {
    const { generation: first } = await sendTurn(api, tenant);
    await fail(first);
    const second = (await post(`/generations/${first}/retry`, {})).body.id;
    await fail(second);
    const action = await act({ action: "retry", ids: [second, first] });
    await api.runBulkActions();
    expect((await get(`/bulk-actions/${action.body.id}`)).body).toMatchObject({
      progress: { done: 2, succeeded: 1, skipped: 1 },
      skips: { newer_try: 1 },
    });
    expect(await stateOf(second)).toBe("retried");
  });

  test("a provider that was removed is a failure: somebody has to act", async () => {
    const [failed] = await failures(1);
    await api.admin.client.begin(async (tx) => {
      await tx`select set_config('app.tenant_id', ${tenant.id}, true)`;
      await tx`delete from providers where tenant_id = ${tenant.id}`;
    });
    const action = await act({ action: "retry", ids: [failed] });
    await api.runBulkActions();
    expect((await get(`/bulk-actions/${action.body.id}`)).body).toMatchObject({
      progress: { done: 1, failed: 1 },
      failures: { PROVIDER_NOT_FOUND: 1 },
    });
  });

  test("while the tenant's queue is full it waits, and goes on when there is room", async () => {
    const failed = await failures(2);
    await api.admin.client`update tenants set max_queued = 1 where id = ${tenant.id}`;
    const action = await act({ action: "retry", ids: failed });
    await api.runBulkActions();
    expect((await get(`/bulk-actions/${action.body.id}`)).body).toMatchObject({
      status: "running",
      progress: { done: 1 },
    });
    await api.admin.client`update tenants set max_queued = 10 where id = ${tenant.id}`;
    await endPause(action.body.id);
    await api.runBulkActions();
    expect((await get(`/bulk-actions/${action.body.id}`)).body).toMatchObject({
      status: "completed",
      progress: { done: 2, succeeded: 2 },
    });
  });

  test("discarding keeps the note on every open letter, and no other", async () => {
    const [first, second] = await failures(2);
    await post(`/dead-letters/${second}/discard`, { note: "before" });
    const action = await act({ action: "discard", ids: [first, second], note: "bulk" });
    await api.runBulkActions();
    expect((await get(`/dead-letters/${first}`)).body).toMatchObject({ state: "discarded", note: "bulk" });
    expect((await get(`/dead-letters/${second}`)).body).toMatchObject({ note: "before" });
    expect((await get(`/bulk-actions/${action.body.id}`)).body).toMatchObject({
      progress: { done: 2, succeeded: 1, skipped: 1 },
      skips: { not_in_state: 1 },
    });
  });
});

describe("a process that dies or is told to stop", () => {
  test("whoever takes over goes on behind the last batch that committed, and does nothing twice", async () => {
    const failed = await failures(4);
    const action = await act({ action: "retry", ids: failed });
    await dieAfter(2, failed);
    expect((await get(`/bulk-actions/${action.body.id}`)).body).toMatchObject({
      status: "running",
      progress: { done: 2 },
    });
    await api.runBulkActions();
    expect((await get(`/bulk-actions/${action.body.id}`)).body).toMatchObject({ progress: { done: 2 } });
    await endPause(action.body.id);
    await api.runBulkActions();
    expect((await get(`/bulk-actions/${action.body.id}`)).body).toMatchObject({
      status: "completed",
      progress: { done: 4, succeeded: 4, failed: 0 },
    });
    const queued = (await get("/generations?status=queued&sort=createdAt")).body["items"] as { retryOf: string }[];
    expect(queued.map(({ retryOf }) => retryOf)).toEqual(failed);
  });

  test("a frozen one that wakes up when another has taken over writes nothing", async () => {
    const [id] = await turns(1);
    const action = await act({ action: "cancel", ids: [id] });
    const frozen = await takeUpBulkAction(api.admin.db, uuidv7(), 15_000);
    await endPause(action.body.id);
    await takeUpBulkAction(api.admin.db, uuidv7(), 15_000);
    if (!frozen) throw new Error("nothing was taken up");
    expect(await cancelBatch(await runner(), frozen, [decodeId("generation", id ?? "") ?? ""])).toBe("ended");
    expect(await statusOf(id ?? "")).toBe("queued");
  });

  test("a stopped process puts it down, and the next one takes it up at once", async () => {
    const sent = await turns(2);
    const action = await act({ action: "cancel", ids: sent });
    const stopped = new AbortController();
    stopped.abort();
    await runBulkActions(await runner(), stopped.signal);
    expect((await get(`/bulk-actions/${action.body.id}`)).body).toMatchObject({
      status: "running",
      progress: { done: 0 },
    });
    await api.runBulkActions();
    expect((await get(`/bulk-actions/${action.body.id}`)).body).toMatchObject({ status: "completed" });
  });

  test("an aborted one stops between batches; what it has done stays done", async () => {
    const failed = await failures(3);
    const action = await act({ action: "retry", ids: failed });
    await dieAfter(1, failed);
    const aborted = await post(`/bulk-actions/${action.body.id}/abort`);
    expect(aborted).toMatchObject({ status: 200, body: { status: "aborted", progress: { done: 1 } } });
    await endPause(action.body.id);
    await api.runBulkActions();
    expect(await Promise.all(failed.map(stateOf))).toEqual(["retried", "open", "open"]);
    expect((await post(`/bulk-actions/${action.body.id}/abort`)).body).toMatchObject({ status: "aborted" });
  });

  test("one that has completed cannot be aborted", async () => {
    const action = await act({ action: "cancel", filter: { model: "none" } });
    await api.runBulkActions();
    expect(await post(`/bulk-actions/${action.body.id}/abort`)).toMatchObject({ status: 409 });
  });

  /** Works on it until so many are done, then is gone without a word: its lease runs on. */
  async function dieAfter(done: number, failed: readonly string[]): Promise<void> {
    const held = await takeUpBulkAction(api.admin.db, uuidv7(), 15_000);
    if (!held) throw new Error("nothing was taken up");
    const ids = failed.map((id) => decodeId("generation", id) ?? "");
    await retryEach(await runner(), held, ids.slice(0, done));
  }
});

async function fail(id: string): Promise<void> {
  await endRun(api, await claimRun(api, tenant, id), "failed", "");
}

async function keyWith(scope: string): Promise<string> {
  return api.newKey(tenant.id, { scopes: [scope] });
}

function uuidOf(id: string): string {
  return decodeId("bulkAction", id) ?? "";
}

/** The lease, or the pause, is over. */
async function endPause(id: string): Promise<void> {
  await api.admin.client`update bulk_actions set lease_expires_at = now() - interval '1 s' where id = ${uuidOf(id)}`;
}

async function runner() {
  return {
    db: api.database.db,
    adminDb: api.admin.db,
    queue: { remove: async () => false },
    logger: createLogger({ level: "silent", name: "test" }),
    plugins: await loadPlugins([]),
    holder: uuidv7(),
    batchSize: 10,
  };
}
