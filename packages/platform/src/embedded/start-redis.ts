import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { findRedis } from "./find-redis.ts";
import { freePort } from "./free-port.ts";
import { secretIn } from "./secret-file.ts";
import { retryPorts, spawnServer, waitUntilReady, type OnSpawn } from "./server-process.ts";

const PROBE_TIMEOUT_MS = 500;

export interface RedisOptions {
  readonly dir: string;
  /** No append-only file: for throw-away servers. */
  readonly fast: boolean;
  readonly signal: AbortSignal;
  readonly onSpawn: OnSpawn;
}

/**
 * Starts the private Redis (or Valkey) of `dir`.
 * @returns its URL, password included; `null` when no such server is on PATH.
 * @throws Error when it does not come up.
 */
export async function startRedis(options: RedisOptions): Promise<string | null> {
  const program = findRedis();
  if (program === null) return null;
  const folder = join(options.dir, "redis");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const password = secretIn(join(folder, "password"));
  const port = await retryPorts(() => tryPort(program, realpathSync(folder), password, options));
  return `redis://:${password}@127.0.0.1:${port}/0`;
}

async function tryPort(
  program: string,
  folder: string,
  password: string,
  options: RedisOptions,
): Promise<number | null> {
  options.signal.throwIfAborted();
  const port = await freePort();
  const logFile = join(folder, "server.log");
  // In a file, because a command line is readable by everyone.
  const configFile = join(folder, "redis.conf");
  writeFileSync(configFile, serverConfig(port, folder, password, options.fast), { mode: 0o600 });
  const server = spawnServer({ program, args: [configFile], folder, logFile, identity: {}, stopSignal: "SIGTERM" });
  options.onSpawn(server, folder);
  return (await waitUntilReady(server, logFile, () => answers(port, password))) ? port : null;
}

function serverConfig(port: number, folder: string, password: string, fast: boolean): string {
  return [
    `port ${port}`,
    "bind 127.0.0.1",
    "protected-mode yes",
    `requirepass ${password}`,
    `dir ${JSON.stringify(folder)}`,
    "daemonize no",
    'save ""',
    `appendonly ${fast ? "no" : "yes"}`,
    "appendfsync everysec",
    "maxmemory-policy noeviction",
    "",
  ].join("\n");
}

/** Whether the server answers a PING after the password: not before its append-only file is loaded. */
function answers(port: number, password: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(`AUTH ${password}\r\nPING\r\n`));
    const finish = (ready: boolean): void => {
      socket.destroy();
      resolve(ready);
    };
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      if (received.includes("+PONG")) finish(true);
      else if (received.includes("-")) finish(false);
    });
    socket.once("error", () => finish(false));
    socket.setTimeout(PROBE_TIMEOUT_MS, () => finish(false));
  });
}
