import { mkdtempSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ALL_TENANT_SCOPES } from "@shiftwork/contracts";
import {
  insertApiKey,
  insertProvider,
  insertTenant,
  migrate,
  newId,
  openDatabase,
  withTenant,
  type Database,
  type ServiceRole,
} from "@shiftwork/db";
import { makeApiKey } from "../../services/api/src/auth/api-key.ts";
import type { ChaosOptions } from "./options.ts";
import { startProvider, type ChaosProvider } from "./provider.ts";
import { recordTransitions } from "./record-transitions.ts";
import { startServers, type Servers } from "./servers.ts";
import { createService, type Service, type ServiceOptions } from "./service-process.ts";

/** A whole installation of real processes on private servers. */
export interface Installation {
  readonly servers: Servers;
  readonly provider: ChaosProvider;
  readonly apis: readonly Service[];
  readonly apiUrls: readonly string[];
  readonly workers: readonly Service[];
  /** One per tenant. */
  readonly apiKeys: readonly string[];
  /** Sees the runs of all tenants. */
  readonly database: Database;
  readonly logFolder: string;
  /** Processes that ended although nobody ended them. */
  readonly deaths: readonly string[];
  stop(): Promise<void>;
}

const APIS = 2;
const TENANTS = 4;
const SECRETS = { MASTER_KEY: Buffer.alloc(32, 7).toString("base64"), API_KEY_PEPPER: "pepper of the chaos suite" };

/** After this silence a worker is dead, in milliseconds; faults last longer or shorter than it on purpose. */
export const WORKER_DEAD_AFTER_MS = 2_000;

/** Everything that waits in production waits a fraction of that here. */
const WORKER_TIMES = {
  HEARTBEAT_MS: "200",
  WORKER_DEAD_AFTER_MS: String(WORKER_DEAD_AFTER_MS),
  LEASE_MS: "1000",
  DISPATCH_INTERVAL_MS: "200",
  RECONCILE_INTERVAL_MS: "200",
  UNCLAIMED_AFTER_MS: "1000",
  DEADLINE_GRACE_MS: "1000",
  FRAME_MS: "10",
  PROVIDER_CONNECT_TIMEOUT_MS: "3000",
  PROVIDER_IDLE_TIMEOUT_MS: "3000",
  DRAIN_TIMEOUT_MS: "300",
};

/** Starts everything and resolves when all of it is ready; what was started is stopped when something is not. */
export async function startInstallation(options: ChaosOptions): Promise<Installation> {
  const logFolder = mkdtempSync(join(tmpdir(), "shiftwork-chaos-logs-"));
  const servers = await startServers(options.queue);
  const provider = await startProvider();
  await migrate(servers.databaseUrl);
  const database = openFor("shiftwork_worker", servers);
  const deaths: string[] = [];
  const ports = await freePorts(APIS);
  const { apis, workers } = createServices(options, servers, ports, {
    logFolder,
    onDeath: (name, how) => void deaths.push(`${name} ended with ${how}`),
  });
  const services = [...apis, ...workers];
  const stop = async (): Promise<void> => {
    await Promise.all(services.map((service) => service.end("SIGKILL")));
    await database.close();
    await Promise.all([provider.stop(), servers.stop()]);
  };
  try {
    await recordTransitions(database);
    const apiKeys = await newTenants(servers, provider.baseUrl);
    await Promise.all(services.map((service) => service.start()));
    const apiUrls = ports.map((port) => `http://127.0.0.1:${port}`);
    return { servers, provider, apis, apiUrls, workers, apiKeys, database, logFolder, deaths, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function openFor(role: ServiceRole, { databaseUrl }: Servers): Database {
  return openDatabase({ url: databaseUrl, role, maxConnections: 4, applicationName: "chaos" });
}

function createServices(
  { workers, slots }: ChaosOptions,
  { databaseUrl, socketUrl, redisUrl }: Servers,
  ports: readonly number[],
  shared: Pick<ServiceOptions, "logFolder" | "onDeath">,
) {
  const queue: Record<string, string> = redisUrl === null ? {} : { REDIS_URL: redisUrl };
  const env = { DATABASE_URL: databaseUrl, DATABASE_POOL: "8", ...queue, ...SECRETS };
  const apiEnv = (port: number) => ({ ...env, PORT: String(port), DRAIN_TIMEOUT_MS: "3000" });
  // Both ways to the database are there in production.
  const workerEnv = { ...env, DATABASE_URL: socketUrl, ...WORKER_TIMES, WORKER_CONCURRENCY: String(slots) };
  return {
    apis: ports.map((port, index) =>
      createService({ ...shared, name: `api-${index}`, service: "api", env: apiEnv(port) }),
    ),
    workers: Array.from({ length: workers }, (_, index) =>
      createService({ ...shared, name: `worker-${index}`, service: "worker", env: workerEnv }),
    ),
  };
}

/** Tenants with a provider and a key each; returns the keys. */
async function newTenants(servers: Servers, baseUrl: string): Promise<readonly string[]> {
  const admin = openFor("shiftwork_admin", servers);
  try {
    return await Promise.all(Array.from({ length: TENANTS }, () => newTenant(admin, baseUrl)));
  } finally {
    await admin.close();
  }
}

async function newTenant(admin: Database, baseUrl: string): Promise<string> {
  const [tenantId, providerId] = [newId(), newId()];
  const { key, keyId, secretHash } = makeApiKey("live", SECRETS.API_KEY_PEPPER);
  await withTenant(admin.db, tenantId, async (tx) => {
    await insertTenant(tx, { id: tenantId, name: "chaos" });
    await insertProvider(tx, tenantId, {
      id: providerId,
      name: "chaos",
      kind: "openai-compatible",
      baseUrl,
      secret: null,
      allowPrivateNetwork: true,
      models: [{ model: "chaos", contextLimit: 16_384, maxOutputTokens: null }],
    });
    await insertApiKey(tx, tenantId, { id: newId(), keyId, secretHash, name: "chaos", scopes: ALL_TENANT_SCOPES });
  });
  return key;
}

/** Chosen at the same time, so that they differ; they stay over restarts, as behind a load balancer. */
async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once("error", reject);
          server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
