/**
 * The guard's process: owns the private servers of one data folder. Its standard input is a pipe from the launcher;
 * when that closes, even because the launcher was killed with -9, the servers are stopped. It writes one line of JSON
 * to standard output, a {@link GuardReport}, and nothing else.
 */
import { rmSync } from "node:fs";
import type { GuardOptions, GuardReport } from "./launch.ts";
import { claimFolder, releaseFolder, updateOwner, type Owner } from "./owner.ts";
import { identify, type ProcessRecord } from "./process-identity.ts";
import { forgetServers, readServers, recordServer } from "./server-list.ts";
import type { OnSpawn, ServerProcess } from "./server-process.ts";
import { stopStaleServers } from "./stale-servers.ts";
import { startPostgres } from "./start-postgres.ts";
import { startRedis } from "./start-redis.ts";

const options = JSON.parse(process.argv[2] ?? "") as GuardOptions;
const ending = new AbortController();
const servers: ServerProcess[] = [];
let stopping: Promise<void> | null = null;
let ownsFolder = false;

process.stdout.on("error", () => undefined);
// Ctrl-C is the launcher's business: it drains first, then closes our input.
process.on("SIGINT", () => undefined);
process.on("SIGTERM", () => end(0));
process.on("SIGHUP", () => end(0));
process.stdin.on("close", () => end(0)).resume();

const starting = start().then(report, reportFailure);

async function start(): Promise<GuardReport> {
  const me: Owner = { ...identifyUs(), databaseUrl: null, redisUrl: null };
  const owner = await claimFolder(options.dir, me);
  if (owner !== null) return { ok: false, message: "already running", owner };
  ownsFolder = true;
  await stopStaleServers(readServers(options.dir));
  forgetServers(options.dir);
  const shared = { dir: options.dir, fast: options.fast, signal: ending.signal, onSpawn };
  const [urls, redisUrl] = await Promise.all([
    startPostgres({ ...shared, prefer: options.postgres }),
    options.redis ? startRedis(shared) : null,
  ]);
  updateOwner(options.dir, { ...me, databaseUrl: urls.databaseUrl, redisUrl });
  return { ok: true, ...urls, redisUrl };
}

function identifyUs(): { readonly guard: ProcessRecord; readonly launcher: ProcessRecord } {
  const guard = identify(process.pid);
  const launcher = identify(options.launcherPid);
  if (guard === null || launcher === null) throw new Error("the launcher has ended");
  return { guard, launcher };
}

const onSpawn: OnSpawn = (server, folder) => {
  servers.push(server);
  recordServer(options.dir, server.pid, folder);
};

function report(result: GuardReport): void {
  process.stdout.write(`${JSON.stringify(result)}\n`);
  if (!result.ok) end(1);
  // From here on a server that ends by itself takes the rest down; before, a taken port is tried again.
  for (const server of servers) void server.exited.then(() => end(1));
}

function reportFailure(error: unknown): void {
  report({ ok: false, message: error instanceof Error ? error.message : String(error) });
}

function end(code: number): void {
  stopping ??= stopAll().finally(() => process.exit(code));
}

async function stopAll(): Promise<void> {
  ending.abort(new Error("the launcher has ended"));
  await Promise.all(servers.map((server) => server.stop()));
  await starting;
  await Promise.all(servers.map((server) => server.stop()));
  if (!ownsFolder) return;
  forgetServers(options.dir);
  releaseFolder(options.dir);
  if (options.discard) rmSync(options.dir, { recursive: true, force: true });
}
