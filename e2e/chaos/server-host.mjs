/**
 * The process that owns a run's private servers. It stops and starts them on command, always on the same ports, and ends
 * them when its parent is gone, however it went. Talks by IPC: `{ id, command }` in, `{ id, error?, urls? }` out.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPostgres } from "../../packages/platform/dist/embedded/find-postgres.js";
import { findRedis } from "../../packages/platform/dist/embedded/find-redis.js";
import { freePort } from "../../packages/platform/dist/embedded/free-port.js";
import { DATABASE_NAME, DATABASE_USER, initPostgres } from "../../packages/platform/dist/embedded/init-postgres.js";
import { placePostgres } from "../../packages/platform/dist/embedded/place-postgres.js";
import { secretIn } from "../../packages/platform/dist/embedded/secret-file.js";
import { spawnServer, waitUntilReady } from "../../packages/platform/dist/embedded/server-process.js";

const withRedis = process.argv[2] === "redis";
const dir = mkdtempSync(join(tmpdir(), "shiftwork-chaos-servers-"));
chmodSync(dir, 0o755); // root's server runs as another user
const running = { postgres: null, redis: null };
let places = null;

const COMMANDS = {
  launch,
  "postgres-crash": () => end("postgres", "SIGQUIT"),
  "postgres-stop": () => end("postgres", "SIGINT"),
  "postgres-start": () => startPostgres(places.postgres),
  "redis-stop": () => end("redis", "SIGKILL"),
  "redis-start": () => startRedis(places.redis),
};

process.on("message", ({ id, command }) => {
  COMMANDS[command]().then(
    (urls) => process.send({ id, urls }),
    (error) => process.send({ id, error: error.message }),
  );
});
process.on("disconnect", () => void stopAll());
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => undefined); // the parent says when

async function launch() {
  places = { postgres: await placeOfPostgres(), redis: withRedis ? await placeOfRedis() : null };
  await Promise.all([startPostgres(places.postgres), places.redis && startRedis(places.redis)]);
  const { url, data } = places.postgres;
  return {
    databaseUrl: url,
    socketUrl: `${url}?host=${encodeURIComponent(data)}`,
    redisUrl: places.redis?.url ?? null,
  };
}

async function placeOfPostgres() {
  const place = placePostgres(findPostgres("npm"), dir);
  const passwordFile = join(place.folder, "password");
  const password = secretIn(passwordFile);
  place.runAs.own(passwordFile);
  const data = await initPostgres(place, passwordFile, new AbortController().signal);
  const port = await freePort();
  return { place, data, port, url: `postgres://${DATABASE_USER}:${password}@127.0.0.1:${port}/${DATABASE_NAME}` };
}

async function startPostgres({ place, data, port }) {
  // A crash of the process, unlike one of the machine, loses nothing that was written: fsync would only cost time.
  const flags = [
    "listen_addresses=127.0.0.1",
    `unix_socket_directories=${data}`,
    "max_connections=300",
    "shared_buffers=64MB",
    "jit=off",
    "timezone=UTC",
    "fsync=off",
    "full_page_writes=off",
    ...(place.programs.major >= 18 ? ["io_method=sync"] : []),
  ].flatMap((flag) => ["-c", flag]);
  const file = join(place.programs.binFolder, "postgres");
  const [program, args] = place.runAs.command(file, ["-D", data, "-p", String(port), ...flags]);
  const logFile = join(place.folder, "server.log");
  const { folder, runAs } = place;
  const server = spawnServer({ program, args, folder, logFile, identity: runAs.ids, stopSignal: "SIGINT" });
  running.postgres = server;
  await waitUntilReady(server, logFile, () => isReady(data, server.pid));
}

function isReady(data, pid) {
  try {
    const lines = readFileSync(join(data, "postmaster.pid"), "utf8").split("\n");
    return Number(lines[0]) === pid && lines[7]?.trim() === "ready";
  } catch {
    return false;
  }
}

async function placeOfRedis() {
  const program = findRedis();
  if (program === null) throw new Error("no redis-server or valkey-server is on PATH; run with --queue postgres");
  const folder = join(dir, "redis");
  mkdirSync(folder, { mode: 0o700 });
  const password = secretIn(join(folder, "password"));
  const port = await freePort();
  const lines = [`port ${port}`, "bind 127.0.0.1", `requirepass ${password}`, `dir ${folder}`];
  const configFile = join(folder, "redis.conf");
  writeFileSync(configFile, [...lines, 'save ""', "appendonly no", "maxmemory-policy noeviction", ""].join("\n"));
  return { program, folder, configFile, url: `redis://:${password}@127.0.0.1:${port}/0` };
}

/** Nothing is kept on disk: what comes back after a stop is empty. */
async function startRedis({ program, folder, configFile }) {
  const logFile = join(folder, "server.log");
  const server = spawnServer({ program, args: [configFile], folder, logFile, identity: {}, stopSignal: "SIGTERM" });
  running.redis = server;
  await waitUntilReady(server, logFile, () => readFileSync(logFile, "utf8").includes("Ready to accept connections"));
}

async function end(name, signal) {
  running[name].child.kill(signal);
  await running[name].exited;
}

async function stopAll() {
  await Promise.all(Object.values(running).map((server) => server?.stop()));
  rmSync(dir, { recursive: true, force: true });
  process.exit(0);
}
