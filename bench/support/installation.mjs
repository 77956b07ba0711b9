import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../../db/dist/src/index.js";
import { launchServices } from "../../packages/platform/dist/index.js";
import { serviceEnvironment, startProcesses } from "../../scripts/processes.mjs";
import { capture, ROOT } from "../../scripts/run-command.mjs";

/**
 * A whole installation for one measurement: PostgreSQL and Redis of its own, migrated, with API and worker as real
 * processes. `folder` tells its servers from those of others; `restart` ends API and worker and starts them again, after
 * what `meanwhile` does.
 */
export async function startInstallation() {
  const folder = mkdtempSync(join(tmpdir(), "shiftwork-bench-"));
  const secrets = { masterKey: Buffer.alloc(32, 1).toString("base64"), apiKeyPepper: "a pepper for measurements" };
  const launched = await launchServices({ dir: folder, redis: true, postgres: "npm", fast: false });
  const services = { ...launched, databaseUrl: launched.localDatabaseUrl, secrets };
  await migrate(services.databaseUrl);
  const start = () => startProcesses(services, (name) => console.error(`the ${name} died`));
  let processes = await start();
  return {
    folder,
    databaseUrl: services.databaseUrl,
    get url() {
      return processes.url;
    },
    makeTenant: (providerUrl) => makeTenant(services, providerUrl),
    async restart(meanwhile = async () => {}) {
      await processes.stop();
      await meanwhile();
      processes = await start();
    },
    async stop() {
      await processes.stop();
      await launched.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A tenant with one OpenAI-compatible provider; answers its API key. */
async function makeTenant(services, providerUrl) {
  const program = join(ROOT, "services", "api", "dist", "provision.js");
  const flags = ["--tenant", "bench", "--provider-kind", "openai-compatible", "--base-url", providerUrl];
  const model = ["--model", "gpt-4o", "--context-limit", "8192", "--allow-private-network"];
  const { output } = await capture(process.execPath, [program, ...flags, ...model], {
    env: serviceEnvironment(services),
  });
  return JSON.parse(output).apiKey;
}

/**
 * Calls an installation's API with a key and throws on any answer that is not a success. The installation is asked for its
 * address at each call: a restart may have moved it.
 */
export function apiClient(installation, apiKey) {
  const call = async (method, path, body, accept = "application/json") => {
    const headers = { authorization: `Bearer ${apiKey}`, accept };
    if (body !== undefined) headers["content-type"] = "application/json";
    const answer = await fetch(`${installation.url}/api/v2${path}`, {
      method,
      headers,
      body: body && JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
    return answer;
  };
  return {
    get: async (path) => (await call("GET", path)).json(),
    post: async (path, body) => (await call("POST", path, body)).json(),
    /** Posts and reads the event stream to its end. */
    stream: async (path, body) => (await call("POST", path, body, "text/event-stream")).text(),
  };
}
