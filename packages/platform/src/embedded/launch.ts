import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, mkdirSync, openSync, realpathSync } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { maskUrl } from "../config/mask-url.ts";
import type { PostgresPreference } from "./find-postgres.ts";
import type { Owner } from "./owner.ts";
import { guardEnvironment } from "./server-env.ts";
import { endOf } from "./server-process.ts";
import type { PostgresUrls } from "./start-postgres.ts";

export interface LaunchOptions {
  /** Data folder; made when absent. One set of servers at a time. */
  readonly dir: string;
  /** Also start a Redis or Valkey, when one is on PATH. */
  readonly redis: boolean;
  /** Give up durability for speed: for throw-away servers. */
  readonly fast: boolean;
  /** Which PostgreSQL to prefer. Default `npm`, the server inside the npm package. */
  readonly postgres?: PostgresPreference;
  /** Delete `dir` once the servers have stopped. Default false. */
  readonly discard?: boolean;
}

export interface Services extends PostgresUrls {
  /** `null` when Redis was not asked for or none is on PATH. */
  readonly redisUrl: string | null;
  /** Resolves when the servers are down: after {@link Services.stop}, or because one of them died. */
  readonly stopped: Promise<void>;
  /** Stops the servers. Resolves when they are down; safe twice. */
  stop(): Promise<void>;
}

/** What the guard is told on its command line. */
export type GuardOptions = Required<LaunchOptions> & { readonly launcherPid: number };

/** What the guard says once, on its standard output. */
export type GuardReport =
  | ({ readonly ok: true; readonly redisUrl: string | null } & PostgresUrls)
  | { readonly ok: false; readonly message: string; readonly owner?: Owner };

type GuardProcess = ChildProcess & { readonly stdin: Writable; readonly stdout: Readable };

/** The data folder's servers already run, started by another process. */
export class ServicesAlreadyRunningError extends Error {
  override readonly name = "ServicesAlreadyRunningError";
  /** Process that started them. */
  readonly pid: number;
  /** `null` while they are still starting. */
  readonly databaseUrl: string | null;
  readonly redisUrl: string | null;

  constructor(dir: string, owner: Owner) {
    const addresses = [owner.databaseUrl, owner.redisUrl].filter((url) => url !== null).map(maskUrl);
    const where = addresses.length === 0 ? "still starting" : addresses.join(", ");
    super(`already running here as process ${owner.launcher.pid} (${where}); data folder ${dir}`);
    this.pid = owner.launcher.pid;
    this.databaseUrl = owner.databaseUrl;
    this.redisUrl = owner.redisUrl;
  }
}

/**
 * Starts a private PostgreSQL and, if wanted and possible, a private Redis on free ports of 127.0.0.1. They stop with
 * {@link Services.stop} and when this process ends in any way, kill -9 included.
 * @throws ServicesAlreadyRunningError when another process runs servers in this folder.
 * @throws Error when a server does not come up.
 */
export async function launchServices(options: LaunchOptions): Promise<Services> {
  mkdirSync(options.dir, { recursive: true });
  const dir = realpathSync(options.dir);
  const logFile = join(dir, "guard.log");
  const guard = spawnGuard({ postgres: "npm", discard: false, ...options, dir, launcherPid: process.pid }, logFile);
  const stopped = new Promise<void>((resolve) => guard.once("exit", () => resolve()));
  const report = await readReport(guard);
  if (report === null) throw new Error(`the guard of ${dir} ended: ${endOf(logFile)}`);
  if (!report.ok) {
    await stopped;
    throw report.owner === undefined ? new Error(report.message) : new ServicesAlreadyRunningError(dir, report.owner);
  }
  letGo(guard);
  return {
    databaseUrl: report.databaseUrl,
    localDatabaseUrl: report.localDatabaseUrl,
    redisUrl: report.redisUrl,
    stopped,
    stop: () => {
      guard.ref();
      guard.stdin.end();
      return stopped;
    },
  };
}

/** Detached: Ctrl-C in a terminal reaches every process of the group, and the launcher has to drain first. */
function spawnGuard(options: GuardOptions, logFile: string): GuardProcess {
  const log = openSync(logFile, "a", 0o600);
  const guard = spawn(process.execPath, [guardFile(), JSON.stringify(options)], {
    stdio: ["pipe", "pipe", log],
    env: guardEnvironment(),
    detached: true,
  });
  closeSync(log);
  return guard as GuardProcess;
}

/** The built file, also when this runs from source: `../..` is the package from `src/embedded` and `dist/embedded`. */
function guardFile(): string {
  return fileURLToPath(new URL("../../dist/embedded/guard.js", import.meta.url));
}

async function readReport(guard: GuardProcess): Promise<GuardReport | null> {
  let received = "";
  for await (const chunk of guard.stdout) {
    received += String(chunk);
    if (received.includes("\n")) return JSON.parse(received) as GuardReport;
  }
  return null;
}

/** Running servers do not keep this process alive; when it ends, the pipe closes and they stop. */
function letGo(guard: GuardProcess): void {
  guard.unref();
  for (const stream of [guard.stdin, guard.stdout]) {
    if ("unref" in stream && typeof stream.unref === "function") stream.unref();
  }
}
