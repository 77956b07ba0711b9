import { spawn } from "node:child_process";
import { mkdirSync, openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ROOT } from "./run-command.mjs";

const PREFERRED_PORT = 3000;
const START_TIMEOUT_MS = 30_000;

/**
 * Starts API and worker on the given services and waits until both are ready. Their logs go to `.data/<name>.log`.
 * Both end when this process does, even by kill -9.
 *
 * @param {{ databaseUrl: string, redisUrl: string | null, secrets: { masterKey: string, apiKeyPepper: string } }} services
 * @param {(name: string, code: number | string) => void} onDeath called when one ends by itself
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>}
 */
export async function startProcesses(services, onDeath) {
  const port = await choosePort();
  const env = { ...process.env, ...serviceEnvironment(services), PORT: String(port) };
  const children = ["api", "worker"].map((name) => start(name, env));
  let stopping = false;
  for (const { name, child } of children) {
    child.once("exit", (code, signal) => {
      if (!stopping) onDeath(name, code ?? signal);
    });
  }
  const url = `http://127.0.0.1:${port}`;
  await waitUntilReady(url, () => stopping || children.some(({ child }) => child.exitCode !== null));
  return {
    url,
    async stop() {
      stopping = true;
      await Promise.all(children.map(({ child }) => stopChild(child)));
    },
  };
}

/** What the services read from their environment to use these servers. */
export function serviceEnvironment({ databaseUrl, redisUrl, secrets }) {
  return {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl ?? "",
    MASTER_KEY: secrets.masterKey,
    API_KEY_PEPPER: secrets.apiKeyPepper,
  };
}

function start(name, env) {
  mkdirSync(join(ROOT, ".data"), { recursive: true });
  const log = openSync(logFile(name), "w");
  const child = spawn(
    process.execPath,
    ["--import", join(ROOT, "scripts", "end-with-parent.mjs"), join(ROOT, "services", name, "dist", "main.js")],
    // A group of its own: Ctrl-C reaches the launcher only, which then drains them in order.
    { cwd: ROOT, env, stdio: ["pipe", log, log], detached: true },
  );
  return { name, child };
}

function logFile(name) {
  return join(ROOT, ".data", `${name}.log`);
}

async function waitUntilReady(url, isOver) {
  const giveUpAt = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < giveUpAt && !isOver()) {
    const ready = await fetch(`${url}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
    if (ready && readFileSync(logFile("worker"), "utf8").includes('"msg":"worker ready"')) return;
    await delay(20);
  }
  const troubles = ["api", "worker"].flatMap(lastTrouble);
  throw new Error(
    ["API and worker did not become ready; see .data/api.log and .data/worker.log", ...troubles].join("\n"),
  );
}

/** The last complaint in a service's log: mostly a server that does not answer. Lines that are not JSON are Node's own. */
function lastTrouble(name) {
  const lines = readFileSync(logFile(name), "utf8").trim().split("\n").reverse();
  const line = lines.find((text) => /^\{"level":"(warn|error|fatal)"/.test(text));
  if (line === undefined) return [];
  const { msg, err } = JSON.parse(line);
  return [`  ${name}: ${msg}${err ? `: ${err.message}` : ""}`];
}

function stopChild(child) {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once("exit", () => resolve());
    child.kill("SIGTERM");
  });
}

/** `PORT`, else the usual one, else any that is free. */
async function choosePort() {
  const wanted = Number(process.env.PORT || 0);
  if (wanted > 0 && (await freePort(wanted)) === null)
    throw new Error(`port ${wanted} is in use or not allowed; set PORT to another, or leave it out`);
  if (wanted > 0) return wanted;
  return (await freePort(PREFERRED_PORT)) ?? (await freePort(0));
}

function freePort(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(null));
    server.listen(port, "127.0.0.1", () => {
      const { port: found } = server.address();
      server.close(() => resolve(found));
    });
  });
}
