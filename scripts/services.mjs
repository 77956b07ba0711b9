import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { serviceEnvironment } from "./processes.mjs";
import { ROOT } from "./run-command.mjs";

const DATA = join(ROOT, ".data");

/**
 * The database, the queue and the secrets of an installation on this machine. `DATABASE_URL` and `REDIS_URL` win:
 * what is given is used, and nothing is started in its place. `DATABASE_URL` without `REDIS_URL` puts the queue on
 * that PostgreSQL; `MASTER_KEY` and `API_KEY_PEPPER` win likewise. Otherwise private servers are started on `.data/`; `EMBEDDED_PG=system` prefers an installed
 * PostgreSQL, `EMBEDDED_REDIS=off` does without Redis. Needs the packages to be built.
 *
 * @returns {Promise<{
 *   databaseUrl: string,
 *   redisUrl: string | null,
 *   secrets: { masterKey: string, apiKeyPepper: string },
 *   stopped: Promise<void>,
 *   stop: () => Promise<void>,
 * }>} `stopped` resolves when a private server died; `stop` stops what was started, and nothing else
 * @throws {Error} named `ServicesAlreadyRunningError`, with `pid`, `databaseUrl`, `redisUrl`, on a second start
 */
export async function startServices() {
  mkdirSync(DATA, { recursive: true });
  const secrets = chooseSecrets();
  const databaseUrl = process.env.DATABASE_URL || null;
  const redisUrl = process.env.REDIS_URL || null;
  if (databaseUrl !== null)
    return { databaseUrl, redisUrl, secrets, stopped: new Promise(() => {}), stop: async () => {} };
  const { launchServices } = await import("../packages/platform/dist/embedded/launch.js");
  const { localDatabaseUrl, ...services } = await launchServices({
    dir: DATA,
    redis: redisUrl === null && process.env.EMBEDDED_REDIS !== "off",
    postgres: process.env.EMBEDDED_PG === "system" ? "system" : "npm",
    fast: false,
  });
  return { ...services, databaseUrl: localDatabaseUrl, redisUrl: redisUrl ?? services.redisUrl, secrets };
}

/** The installation that `npm start` runs here, as a service reads it from its environment; `null` when none does. */
export function runningInstallation() {
  const owner = readData("owner.json");
  const secrets = readData("secrets.json");
  if (!owner?.databaseUrl || secrets === null) return null;
  return serviceEnvironment({ databaseUrl: owner.databaseUrl, redisUrl: owner.redisUrl, secrets });
}

function chooseSecrets() {
  const { MASTER_KEY: masterKey, API_KEY_PEPPER: apiKeyPepper } = process.env;
  if (masterKey && apiKeyPepper) return { masterKey, apiKeyPepper };
  const kept = keptSecrets();
  return { masterKey: masterKey || kept.masterKey, apiKeyPepper: apiKeyPepper || kept.apiKeyPepper };
}

/** Made on the first start: losing them makes stored provider secrets and API keys useless, so they stay beside the data. */
function keptSecrets() {
  const file = join(DATA, "secrets.json");
  const fresh = { masterKey: randomBytes(32).toString("base64"), apiKeyPepper: randomBytes(32).toString("base64") };
  try {
    writeFileSync(file, `${JSON.stringify(fresh, null, 2)}\n`, { mode: 0o600, flag: "wx" });
    return fresh;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
    return readData("secrets.json");
  }
}

function readData(name) {
  const file = join(DATA, name);
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null;
}
