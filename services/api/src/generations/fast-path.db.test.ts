import { decodeId } from "@shiftwork/contracts";
import { findUnclaimed, heartbeat, publishRoom, undoDispatch } from "@shiftwork/db";
import { openQueue, type Queue } from "@shiftwork/platform";
import { uuidv7 } from "uuidv7";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { claimRun, endRun } from "../testing/act-as-worker.ts";
import { openApi, type ApiUnderTest, type TestTenant } from "../testing/api-under-test.ts";

const WINDOW = { windowRatio: 1, deadAfterMs: 60_000 };
const SLOTS = 4;

let api: ApiUnderTest;
let queue: Queue;
let tenant: TestTenant;
let refusing = false;

beforeAll(async () => {
  queue = openQueue({
    name: `test-${uuidv7()}`,
    url: inject("redisUrl") ?? inject("databaseUrl"),
    onError: () => {},
  });
  api = await openApi(inject("databaseUrl"), {
    queue: {
      add: async (jobs) => (refusing ? Promise.reject(new Error("the queue is away")) : queue.add(jobs)),
      remove: (job) => queue.remove(job),
    },
  });
  await heartbeat(api.worker.db, { id: uuidv7(), host: "h", pid: 1, slots: SLOTS });
});
afterAll(async () => {
  await queue.close();
  await api.close();
});
beforeEach(async () => {
  tenant = await api.newTenant();
  await publishRoom(api.worker.db, WINDOW);
});
afterEach(async () => {
  refusing = false;
  await asOwner((tx) => tx`delete from queues`);
  await asOwner((tx) => tx`delete from generations`);
});

const post = (path: string, body: unknown) => api.call("POST", `/api/v2${path}`, { key: tenant.key, body });
const newChat = async () => (await post("/chats", {})).body.id;
const send = async (body: object = { message: "Hi" }) =>
  (await post(`/chats/${await newChat()}/generations`, body)).body.id;
/** A turn of a tenant of its own. */
const strangersTurn = async () => {
  const { key } = await api.newTenant();
  const chat = (await api.call("POST", "/api/v2/chats", { key, body: {} })).body.id;
  const path = `/api/v2/chats/${chat}/generations`;
  return (await api.call("POST", path, { key, body: { message: "Hi" } })).body.id;
};
const jobOf = (id: string, epoch = 0) => ({
  tenantId: tenant.id,
  generationId: decodeId("generation", id) ?? "",
  epoch,
});
const isQueued = async (id: string, epoch = 0) => (await queue.state(jobOf(id, epoch))) === "waiting";

type Admin = Parameters<Parameters<ApiUnderTest["admin"]["client"]["begin"]>[1]>[0];
async function asOwner<T>(work: (tx: Admin) => Promise<T>): Promise<T> {
  return (
    await api.admin.client.begin(async (tx) => {
      await tx`set local role none`;
      return { result: await work(tx) };
    })
  ).result;
}

async function freeRoom(): Promise<number> {
  const [row] = await asOwner((tx) => tx<{ free: number }[]>`select free from dispatch_room`);
  return row?.free ?? -1;
}

async function rowOf(id: string) {
  const [row] = await asOwner(
    (tx) => tx<{ epoch: number; dispatched: boolean }[]>`
      select epoch, dispatched_at is not null as dispatched from generations where id = ${jobOf(id).generationId}
    `,
  );
  return row;
}

describe("while nobody waits", () => {
  test("a turn goes straight into the queue, and takes the room it needs", async () => {
    const id = await send();
    expect(await rowOf(id)).toEqual({ epoch: 0, dispatched: true });
    expect(await isQueued(id)).toBe(true);
    expect(await freeRoom()).toBe(SLOTS - 1);
    await claimRun(api, tenant, id);
  });

  test("a retry does too", async () => {
    const first = await send();
    await endRun(api, await claimRun(api, tenant, first), "failed", "");
    const again = (await post(`/generations/${first}/retry`, {})).body.id;
    expect(await isQueued(again)).toBe(true);
  });

  test("the window is never exceeded, however many come at once; the others are left to the dispatcher", async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, strangersTurn));
    for (let round = 0; round < 6; round += 1) ids.push(await strangersTurn());
    const dispatched = (await Promise.all(ids.map(rowOf))).filter((row) => row?.dispatched);
    expect(dispatched).toHaveLength(SLOTS);
    expect(await freeRoom()).toBe(0);
  });

  test("what ended makes room again when the leader looks", async () => {
    for (let n = 0; n < SLOTS; n += 1) await send();
    expect(await freeRoom()).toBe(0);
    const [first] = await asOwner((tx) => tx<{ id: string }[]>`select id from generations order by id limit 1`);
    await asOwner((tx) => tx`update generations set status = 'failed' where id = ${first?.id ?? ""}`);
    await publishRoom(api.worker.db, WINDOW);
    expect(await freeRoom()).toBe(1);
  });

  test("a refused turn takes no room", async () => {
    const chat = await newChat();
    expect((await post(`/chats/${chat}/generations`, { message: "x", contextStrategy: "magic" })).status).toBe(422);
    expect(await freeRoom()).toBe(SLOTS);
  });
});

describe("a turn is left to the dispatcher", () => {
  test.each([
    [
      "while another one waits",
      async () => {
        await asOwner((tx) => tx`update dispatch_room set free = 0`);
        await send();
        await publishRoom(api.worker.db, WINDOW);
      },
    ],
    ["when its tenant is at its cap", () => limit("max_concurrency = 1").then(() => send())],
    ["when its tenant is paused", () => limit("paused_at = now()")],
    [
      "when the queue is paused",
      () => asOwner((tx) => tx`insert into queues (name, paused_at) values ('default', now())`),
    ],
    [
      "when no leader has been heard of",
      () => asOwner((tx) => tx`update dispatch_room set published_at = now() - interval '1 minute'`),
    ],
  ] as const)("%s", async (_case, arrange) => {
    await arrange();
    const id = await send();
    expect(await rowOf(id)).toEqual({ epoch: 0, dispatched: false });
    expect(await isQueued(id)).toBe(false);
  });

  test("when it waits for another one of its chat", async () => {
    const chat = await newChat();
    await post(`/chats/${chat}/generations`, { message: "x" });
    const { id } = (await post(`/chats/${chat}/generations`, { message: "y", onBusy: "queue" })).body;
    expect(await rowOf(id)).toEqual({ epoch: 0, dispatched: false });
    expect(await freeRoom()).toBe(SLOTS - 1);
  });
});

describe("while only those wait who may have no place", () => {
  test.each([
    ["a paused tenant's", () => limit("paused_at = now()").then(() => send())],
    [
      "that of a tenant at its cap",
      () =>
        limit("max_concurrency = 1")
          .then(() => send())
          .then(() => send()),
    ],
    [
      "one that was told to wait",
      async () => {
        await asOwner((tx) => tx`update dispatch_room set free = 0`);
        const id = jobOf(await send()).generationId;
        await asOwner((tx) => tx`update generations set not_before = now() + interval '1 minute' where id = ${id}`);
      },
    ],
  ] as const)("%s, a turn of another tenant goes straight into the queue", async (_case, arrange) => {
    await arrange();
    expect(await publishRoom(api.worker.db, WINDOW)).toMatchObject({ dispatchable: false });
    expect(await rowOf(await strangersTurn())).toMatchObject({ dispatched: true });
  });

  test("a wait that is over closes the room", async () => {
    await asOwner((tx) => tx`update dispatch_room set free = 0`);
    const id = jobOf(await send()).generationId;
    await asOwner((tx) => tx`update generations set not_before = now() where id = ${id}`);
    expect(await publishRoom(api.worker.db, WINDOW)).toMatchObject({ dispatchable: true });
    expect(await freeRoom()).toBe(0);
  });

  test("a turn passes nobody of its own tenant, nor who may go since a run has ended", async () => {
    await limit("max_concurrency = 1");
    const running = await claimRun(api, tenant, await send());
    await send();
    await publishRoom(api.worker.db, WINDOW);
    await limit("max_concurrency = 2");
    expect(await rowOf(await send())).toMatchObject({ dispatched: false });
    expect(await freeRoom()).toBe(SLOTS - 1);
    await endRun(api, running, "completed", "Hello");
    expect(await rowOf(await strangersTurn())).toMatchObject({ dispatched: false });
    expect(await publishRoom(api.worker.db, WINDOW)).toMatchObject({ dispatchable: true });
  });

  test("with very many tenants waiting it is the dispatcher's affair", async () => {
    for (let n = 0; n < 21; n += 1) {
      tenant = await api.newTenant();
      await limit("paused_at = now()");
      await send();
    }
    expect(await publishRoom(api.worker.db, WINDOW)).toMatchObject({ dispatchable: true });
  });
});

describe("when something breaks between commit and queue", () => {
  test("a turn the queue refuses is accepted all the same, and given to the dispatcher under a new epoch", async () => {
    refusing = true;
    const id = await send();
    expect(await rowOf(id)).toEqual({ epoch: 1, dispatched: false });
    expect(await publishRoom(api.worker.db, WINDOW)).toMatchObject({ dispatchable: true });
  });

  test("one that a crash left marked and not queued is found as unclaimed, and dispatched again", async () => {
    const id = await send();
    await queue.remove(jobOf(id));
    const lost = await findUnclaimed(api.worker.db, 0, 10);
    expect(lost).toEqual([jobOf(id)]);
    expect(await queue.state(jobOf(id))).toBe("gone");
    await undoDispatch(api.worker.db, jobOf(id));
    expect(await rowOf(id)).toEqual({ epoch: 1, dispatched: false });
  });
});

async function limit(assignment: string): Promise<void> {
  await asOwner((tx) => tx.unsafe(`update tenants set ${assignment} where id = '${tenant.id}'`));
}
