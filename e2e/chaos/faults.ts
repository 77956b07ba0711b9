import { setTimeout as delay } from "node:timers/promises";
import type { FaultName } from "./fault-names.ts";
import { WORKER_DEAD_AFTER_MS, type Installation } from "./installation.ts";
import type { Random } from "./random.ts";
import { sendToRedis } from "./servers.ts";
import type { Service } from "./service-process.ts";
import { waitUntil } from "./wait.ts";

/** Does one thing to the installation and resolves when it is over: what was ended is up again. */
type Fault = (installation: Installation, random: Random) => Promise<void>;

export const FAULTS: Readonly<Record<FaultName, Fault>> = {
  "worker-killed": async ({ workers }, random) => killAndRestart(random.pick(workers), random),
  "leader-killed": async (installation, random) => killAndRestart(await leaderOf(installation), random),
  "api-killed": async ({ apis }, random) => killAndRestart(random.pick(apis), random),
  "worker-frozen": async (installation, random) => freezeBeyondDeath(installation, random.pick(installation.workers)),
  "leader-frozen": async (installation) => freezeBeyondDeath(installation, await leaderOf(installation)),
  "worker-blocked": async ({ workers }, random) => {
    const worker = random.pick(workers);
    worker.signal("SIGSTOP");
    await delay(WORKER_DEAD_AFTER_MS / 2);
    worker.signal("SIGCONT");
  },
  "workers-rolled": ({ workers }) => rollOver(workers),
  "apis-rolled": ({ apis }) => rollOver(apis),
  "redis-flushed": ({ servers }) => sendToRedis(redisOf(servers.redisUrl), "FLUSHALL"),
  // What Redis knew of the runs that were taken from the frozen worker is gone when it wakes.
  "redis-flushed-over-frozen": (installation, random) =>
    freezeBeyondDeath(installation, random.pick(installation.workers), () =>
      sendToRedis(redisOf(installation.servers.redisUrl), "FLUSHALL"),
    ),
  "redis-disconnected": ({ servers }) => sendToRedis(redisOf(servers.redisUrl), "CLIENT KILL TYPE normal SKIPME yes"),
  "redis-stopped": async ({ servers }) => {
    await servers.run("redis-stop");
    await delay(5_000);
    await servers.run("redis-start");
  },
  "postgres-crashed": async ({ servers }) => {
    await servers.run("postgres-crash");
    await servers.run("postgres-start");
  },
  "postgres-restarted": async ({ servers }) => {
    await servers.run("postgres-stop");
    await servers.run("postgres-start");
  },
  "postgres-disconnected": async ({ database }) => {
    await database.client.begin(async (tx) => {
      await tx`set local role none`;
      await tx`
        select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name <> 'chaos'
      `;
    });
  },
};

/** Those that can happen to an installation with this queue. */
export function possibleFaults(faults: readonly FaultName[], queue: "redis" | "postgres"): readonly FaultName[] {
  return faults.filter((fault) => queue === "redis" || !fault.startsWith("redis"));
}

async function killAndRestart(service: Service, random: Random): Promise<void> {
  await delay(random.between(0, 200));
  await service.end("SIGKILL");
  await delay(random.between(0, WORKER_DEAD_AFTER_MS));
  await service.start();
}

async function rollOver(services: readonly Service[]): Promise<void> {
  for (const service of services) {
    await service.end("SIGTERM");
    await service.start();
  }
}

async function leaderOf({ database, workers }: Installation): Promise<Service> {
  let leader: Service | undefined;
  await waitUntil("a worker leads", async () => {
    const [row] = await database.client<{ pid: number }[]>`
      select workers.pid from leases join workers on workers.id::text = leases.holder::text where expires_at > now()
    `;
    leader = workers.find((worker) => worker.pid === row?.pid);
    return leader !== undefined;
  });
  if (leader === undefined) throw new Error("no worker leads");
  return leader;
}

/** Woken only when another attempt of one of its runs is under way: its late writes then meet a row that runs. */
async function freezeBeyondDeath(
  { database, workers }: Installation,
  chosen: Service,
  beforeItWakes: () => Promise<void> = async () => {},
): Promise<void> {
  const { client } = database;
  const runsOf = async (workerId: string) =>
    client<{ id: string }[]>`select id from generations where worker_id = ${workerId} and status = 'running'`;
  const [row] = await client<{ id: string }[]>`
    select id from workers where pid = ${chosen.pid} order by started_at desc limit 1
  `;
  if (row === undefined) throw new Error(`${chosen.name} has no row`);
  await waitUntil("it runs something", async () => (await runsOf(row.id)).length > 1, 3_000).catch(() => undefined);
  chosen.signal("SIGSTOP");
  try {
    const held = (await runsOf(row.id)).map(({ id }) => id);
    if (workers.length === 1 || held.length === 0) return await delay(WORKER_DEAD_AFTER_MS * 2);
    // Runs nobody takes are for the checks to find: they do not end by their deadline.
    await waitUntil("its runs were taken", async () => (await runsOf(row.id)).length === 0, 20_000).catch(
      () => undefined,
    );
    const rerun = async () =>
      (await client`select from generations where id = any(${held}) and status = 'running' limit 1`).length > 0;
    await waitUntil("one of them runs again", rerun, 1_000).catch(() => undefined);
    await beforeItWakes();
  } finally {
    chosen.signal("SIGCONT");
  }
  return undefined;
}

function redisOf(url: string | null): string {
  if (url === null) throw new Error("there is no Redis in this run");
  return url;
}
