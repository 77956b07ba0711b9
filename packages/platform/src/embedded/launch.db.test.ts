import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { openQueue } from "../queue/bullmq-queue.ts";
import { startLineProcess, type LineProcess } from "../testing/line-process.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { findRedis } from "./find-redis.ts";
import { launchServices, type LaunchOptions, type Services } from "./launch.ts";
import type { Owner } from "./owner.ts";
import { isRunning, type ProcessRecord } from "./process-identity.ts";
import { isRoot } from "./run-as.ts";

const hasRedis = findRedis() !== null;
const rootReason = isRoot() ? "" : " (skipped: not root)";
const reason = hasRedis ? "" : " (skipped: no redis-server on PATH)";

/** One folder for all, because a new cluster takes longer than all the rest; every test leaves it unowned. */
const dir = temporaryFolder();

afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

describe("the private services", () => {
  it("are a PostgreSQL that takes our login and its database", async () => {
    const services = await launch({ redis: false });
    expect(new URL(services.databaseUrl).pathname).toBe("/shiftwork");
    expect(services.redisUrl).toBeNull();
    await expect(stateOfUnknownJob(services.databaseUrl)).resolves.toBe("gone");
  });

  it("refuse a login without the password", async () => {
    const services = await launch({ redis: false });
    const url = new URL(services.databaseUrl);
    url.password = "wrong";
    await expect(stateOfUnknownJob(url.href)).rejects.toMatchObject({
      cause: expect.objectContaining({ message: expect.stringContaining("password authentication failed") }),
    });
  });

  it.skipIf(!hasRedis)(`include a Redis that evicts nothing and wants a password${reason}`, async () => {
    const { redisUrl } = await launch({ redis: true });
    const client = new Redis(redisUrl ?? "");
    onTestFinished(() => client.disconnect());
    expect(await client.config("GET", "maxmemory-policy")).toEqual(["maxmemory-policy", "noeviction"]);
    expect(await client.config("GET", "bind")).toEqual(["bind", "127.0.0.1"]);
    const url = new URL(redisUrl ?? "");
    const stranger = new Redis({ port: Number(url.port), host: url.hostname, retryStrategy: () => null });
    stranger.on("error", () => undefined);
    await expect(stranger.get("key")).rejects.toThrow(/NOAUTH/);
    stranger.disconnect();
  });

  it("keep their data and password over a restart", async () => {
    const name = `test-${randomUUID()}`;
    const job = { tenantId: randomUUID(), generationId: randomUUID(), epoch: 1, priority: 1 };
    const first = await launch({ redis: false, fast: false });
    await withQueue(first.databaseUrl, name, (queue) => queue.add([job]));
    await first.stop();
    const second = await launch({ redis: false, fast: false });
    expect(await withQueue(second.databaseUrl, name, (queue) => queue.state(job))).toBe("waiting");
    expect(new URL(second.databaseUrl).password).toBe(new URL(first.databaseUrl).password);
  });

  it("stop once, and are gone then", async () => {
    const services = await launch({ redis: true });
    const servers = recordedServers();
    expect(servers.length).toBe(hasRedis ? 2 : 1);
    await Promise.all([services.stop(), services.stop()]);
    expect(servers.filter(isRunning)).toEqual([]);
    expect(existsSync(join(dir, "owner.json"))).toBe(false);
  });

  it("all stop when one of them dies", async () => {
    const services = await launch({ redis: true });
    const servers = recordedServers();
    process.kill(servers[0]?.pid ?? 0, "SIGKILL");
    await services.stopped;
    expect(servers.filter(isRunning)).toEqual([]);
  });

  it("take their folder with them when it is to be discarded", async () => {
    const own = temporaryFolder();
    const services = await launch({ dir: own, redis: false, discard: true });
    expect(existsSync(own)).toBe(true);
    await services.stop();
    expect(existsSync(own)).toBe(false);
  });

  it.skipIf(!isRoot())(`run for root below a folder that nobody else can enter${rootReason}`, async () => {
    const own = temporaryFolder();
    chmodSync(own, 0o700);
    const services = await launch({ dir: own, redis: false, discard: true });
    await expect(stateOfUnknownJob(services.databaseUrl)).resolves.toBe("gone");
  });
});

describe("a second start in the same folder", () => {
  it("says which process has it and where the services are, without the password", async () => {
    const first = await launch({ redis: false });
    const { port, password } = new URL(first.databaseUrl);
    const second = launch({ redis: false });
    await expect(second).rejects.toMatchObject({
      name: "ServicesAlreadyRunningError",
      message: expect.stringContaining(`already running here as process ${process.pid}`),
      databaseUrl: first.databaseUrl,
    });
    await expect(second).rejects.toThrow(`127.0.0.1:${port}/shiftwork`);
    await expect(second).rejects.not.toThrow(password);
  });

  it("waits for a first one that is stopping", async () => {
    const launcher = await startLauncher();
    const servers = recordedServers();
    await launcher.kill();
    await launch({ redis: false });
    expect(servers.filter(isRunning)).toEqual([]);
  });

  it("takes the folder of an owner whose process number belongs to somebody else now", async () => {
    const reused = { pid: process.pid, startedAt: "another time" };
    const owner: Owner = { guard: reused, launcher: reused, databaseUrl: null, redisUrl: null };
    writeFileSync(join(dir, "owner.json"), JSON.stringify(owner));
    await expect(launch({ redis: false })).resolves.toMatchObject({ redisUrl: null });
  });

  it("is let in to one of two that race", async () => {
    const results = await Promise.allSettled([launch({ redis: false }), launch({ redis: false })]);
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });
});

describe("kill -9", () => {
  it("of the launcher leaves no server behind", async () => {
    const launcher = await startLauncher();
    const servers = recordedServers();
    await launcher.kill();
    await vi.waitFor(() => expect(servers.filter(isRunning)).toEqual([]), { timeout: 10_000 });
  });

  it("of the guard leaves servers that the next start stops", async () => {
    const launcher = await startLauncher();
    const left = recordedServers();
    process.kill((readJson("owner.json") as Owner).guard.pid, "SIGKILL");
    expect(left.filter(isRunning)).toEqual(left);
    const services = await launch({ redis: true });
    expect(left.filter(isRunning)).toEqual([]);
    await expect(stateOfUnknownJob(services.databaseUrl)).resolves.toBe("gone");
    await launcher.kill();
  });

  it("of the machine leaves a lock naming a process of somebody else, which is removed", async () => {
    await (await launch({ redis: false })).stop();
    const data = join(dir, "postgres-18", "data");
    const lock = join(existsSync(data) ? data : join(dir, "postgres-15", "data"), "postmaster.pid");
    writeFileSync(lock, `${process.pid}\n${dir}\n0\n5432\n\n127.0.0.1\n  0  0\nready\n`);
    await expect(launch({ redis: false })).resolves.toMatchObject({ redisUrl: null });
  });
});

async function launch(options: Partial<LaunchOptions>): Promise<Services> {
  const services = await launchServices({ dir, redis: false, fast: true, ...options });
  onTestFinished(() => services.stop());
  return services;
}

async function startLauncher(): Promise<LineProcess> {
  const launcher = startLineProcess("./launching-process.mjs", { dir, redis: true, fast: true });
  onTestFinished(() => launcher.kill());
  await launcher.nextLine();
  return launcher;
}

function recordedServers(): readonly ProcessRecord[] {
  return readJson("servers.json") as readonly ProcessRecord[];
}

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(join(dir, name), "utf8"));
}

/** Any answer proves the login: the queue makes its tables first. */
function stateOfUnknownJob(url: string): Promise<string> {
  return withQueue(url, "probe", (queue) => queue.state({ generationId: randomUUID(), epoch: 1 }));
}

async function withQueue<T>(url: string, name: string, use: (queue: ReturnType<typeof openQueue>) => Promise<T>) {
  const queue = openQueue({ name, url, onError: () => undefined });
  try {
    return await use(queue);
  } finally {
    await queue.close();
  }
}
