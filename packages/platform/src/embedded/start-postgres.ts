import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { findPostgres, type PostgresPreference } from "./find-postgres.ts";
import { freePort } from "./free-port.ts";
import { DATABASE_NAME, DATABASE_USER, initPostgres } from "./init-postgres.ts";
import { placePostgres, type PostgresPlace } from "./place-postgres.ts";
import { removeStaleLock } from "./stale-servers.ts";
import { secretIn } from "./secret-file.ts";
import { retryPorts, spawnServer, waitUntilReady, type OnSpawn } from "./server-process.ts";

/** Bytes: what 104 of the shortest limit (macOS) leave beside `/.s.PGSQL.65535` and its end. */
const LONGEST_SOCKET_FOLDER = 88;

export interface PostgresOptions {
  readonly dir: string;
  readonly prefer: PostgresPreference;
  /** No durability at all: for throw-away servers. */
  readonly fast: boolean;
  readonly signal: AbortSignal;
  readonly onSpawn: OnSpawn;
}

/** Two ways to one server, password included. */
export interface PostgresUrls {
  /** By TCP on 127.0.0.1. */
  readonly databaseUrl: string;
  /** By its Unix socket, which costs less per statement; where that cannot be, by TCP. */
  readonly localDatabaseUrl: string;
}

/**
 * Starts the private PostgreSQL of `dir`, making its cluster first when there is none.
 * @throws Error when no server is installed, or it does not come up.
 */
export async function startPostgres(options: PostgresOptions): Promise<PostgresUrls> {
  const place = placePostgres(findPostgres(options.prefer), options.dir);
  const passwordFile = join(place.folder, "password");
  const password = secretIn(passwordFile);
  place.runAs.own(passwordFile);
  const data = await initPostgres(place, passwordFile, options.signal);
  removeStaleLock(data);
  const port = await retryPorts(() => tryPort(place, data, options));
  const databaseUrl = `postgres://${DATABASE_USER}:${password}@127.0.0.1:${port}/${DATABASE_NAME}`;
  const bySocket = await canConnect(join(data, `.s.PGSQL.${port}`));
  return { databaseUrl, localDatabaseUrl: bySocket ? `${databaseUrl}?host=${encodeURIComponent(data)}` : databaseUrl };
}

/** False for a path longer than a socket may have, and for a folder this process may not enter. */
function canConnect(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

async function tryPort(place: PostgresPlace, data: string, options: PostgresOptions): Promise<number | null> {
  options.signal.throwIfAborted();
  const port = await freePort();
  const logFile = join(place.folder, "server.log");
  const flags = serverFlags(place.programs.major, data, options.fast).flatMap((flag) => ["-c", flag]);
  const file = join(place.programs.binFolder, "postgres");
  const [program, args] = place.runAs.command(file, ["-D", data, "-p", String(port), ...flags]);
  const { folder, runAs } = place;
  const server = spawnServer({ program, args, folder, logFile, identity: runAs.ids, stopSignal: "SIGINT" });
  options.onSpawn(server, data);
  return (await waitUntilReady(server, logFile, () => isReady(data, server.pid))) ? port : null;
}

function serverFlags(major: number, data: string, fast: boolean): readonly string[] {
  return [
    "listen_addresses=127.0.0.1",
    // Nobody else may enter the data folder. A path that is too long would keep the server from starting.
    `unix_socket_directories=${Buffer.byteLength(data) <= LONGEST_SOCKET_FOLDER ? data : ""}`,
    "max_connections=200",
    "shared_buffers=32MB",
    "jit=off",
    "timezone=UTC",
    "log_timezone=UTC",
    ...(major >= 18 ? ["io_method=sync"] : []),
    ...(fast ? ["fsync=off", "synchronous_commit=off", "full_page_writes=off"] : []),
  ];
}

/** Line 8 of postmaster.pid says `ready` once connections are accepted; line 1 tells it from an older server's. */
function isReady(data: string, pid: number): boolean {
  try {
    const lines = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
    return Number(lines[0]) === pid && lines[7]?.trim() === "ready";
  } catch {
    return false;
  }
}
