import { ALL_ADMIN_SCOPES, ALL_TENANT_SCOPES, encodeId, ProblemDetails } from "@shiftwork/contracts";
import {
  insertAdminKey,
  insertApiKey,
  insertProvider,
  insertTenant,
  openDatabase,
  withTenant,
  type Database,
} from "@shiftwork/db";
import { openTestDatabase } from "@shiftwork/db/testing";
import {
  createLogger,
  loadPlugins,
  openPostgresEventLog,
  openRedisEventLog,
  type LoadedPlugins,
  type Logger,
  createTokenizers,
} from "@shiftwork/platform";
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from "fastify";
import { uuidv7 } from "uuidv7";
import { expect } from "vitest";
import type { ApiDependencies } from "../api-dependencies.ts";
import { createApp } from "../app.ts";
import { runBulkActions } from "../bulk-actions/run-bulk-actions.ts";
import { makeApiKey } from "../auth/api-key.ts";
import { previewsHere, type Previewer } from "../preview/previewer.ts";
import { createStreamRegistry, type StreamRegistry } from "../events/stream-registry.ts";
import { createHealthCheck } from "../health/check-health.ts";
import type { Endpoint } from "../routes/endpoint.ts";
import { ENDPOINTS } from "../routes/index.ts";

const DEAD_AFTER_MS = 6_000;
export const PEPPER = "a pepper only tests have";

export interface TestTenant {
  readonly id: string;
  readonly providerId: string;
  /** Key with every scope. */
  readonly key: string;
}

export interface CallOptions {
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: { readonly [name: string]: string };
}

export interface CallAnswer {
  readonly status: number;
  readonly body: { readonly [key: string]: unknown } & { readonly id: string };
  readonly headers: LightMyRequestResponse["headers"];
}

/** The API on a database of its own; unless it is given a queue, that only remembers what was taken out of it. */
export interface ApiUnderTest {
  readonly url: string;
  readonly app: FastifyInstance;
  readonly database: Database;
  readonly admin: Database;
  readonly worker: Database;
  readonly streams: StreamRegistry;
  readonly removedJobs: { readonly generationId: string; readonly epoch: number }[];
  newTenant(limits?: { readonly maxQueued?: number }): Promise<TestTenant>;
  newKey(tenantId: string, facts: { scopes?: readonly string[]; ownerId?: string; expiresAt?: Date }): Promise<string>;
  newAdminKey(scopes?: readonly string[]): Promise<string>;
  /** What the API's loop does: works on bulk actions until none is left that can go on. */
  runBulkActions(batchSize?: number): Promise<void>;
  /** Calls an endpoint and checks the answer's body against what the registry promises. */
  call(method: Endpoint["method"], path: string, options?: CallOptions): Promise<CallAnswer>;
  close(): Promise<void>;
}

export async function openApi(
  serverUrl: string,
  options: {
    readonly heartbeatMs?: number;
    readonly plugins?: LoadedPlugins;
    readonly previewer?: Previewer;
    readonly queue?: ApiDependencies["queue"];
    readonly onLogLine?: (line: string) => void;
    /** Replies stream through it. Default: through the database. */
    readonly frames?: { readonly url: string; readonly name: string };
  } = {},
): Promise<ApiUnderTest> {
  const test = await openTestDatabase(serverUrl);
  const open = (role: "shiftwork_admin" | "shiftwork_api" | "shiftwork_worker") =>
    openDatabase({ url: test.url, role, maxConnections: 6, applicationName: "api-test" });
  const [admin, database, worker] = [open("shiftwork_admin"), open("shiftwork_api"), open("shiftwork_worker")];
  const { frames } = options;
  const eventLog =
    frames === undefined
      ? await openPostgresEventLog(database)
      : await openRedisEventLog(database, { ...frames, onError: () => {} });
  const streams = createStreamRegistry();
  const removedJobs: { generationId: string; epoch: number }[] = [];
  const plugins = options.plugins ?? (await loadPlugins([]));
  const queue: ApiDependencies["queue"] = {
    add: async () => {},
    remove: async ({ generationId, epoch }) => removedJobs.push({ generationId, epoch }) > 0,
  };
  const app = await createApp({
    db: database.db,
    adminDb: admin.db,
    queue,
    eventLog,
    streams,
    logger: loggerFor(options.onLogLine),
    pepper: PEPPER,
    version: "0.0.0-test",
    plugins,
    tokenizers: createTokenizers(),
    previewer: previewsHere({ db: database.db, plugins, masterKey: Buffer.alloc(32, 7) }),
    health: createHealthCheck({ adminDb: admin.db, queue: { state: async () => "gone" }, deadAfterMs: DEAD_AFTER_MS }),
    wakeBulkActions: () => {},
    deadAfterMs: DEAD_AFTER_MS,
    readiness: async () => null,
    ...options,
  });
  const newKey: ApiUnderTest["newKey"] = (tenantId, facts) => insertKey(admin, tenantId, facts);
  return {
    url: test.url,
    app,
    database,
    admin,
    worker,
    streams,
    removedJobs,
    newKey,
    newAdminKey: (scopes = ALL_ADMIN_SCOPES) => insertTestAdminKey(admin, scopes),
    async runBulkActions(batchSize = 200) {
      const logger = loggerFor(options.onLogLine);
      const runner = { db: database.db, adminDb: admin.db, queue, logger, plugins, holder: uuidv7(), batchSize };
      while (await runBulkActions(runner, new AbortController().signal));
    },
    newTenant: (limits = {}) => insertTestTenant(admin, limits),
    call: (method, path, call = {}) => callChecked(app, method, path, call),
    async close() {
      await app.close();
      await eventLog.close();
      await Promise.all([admin.close(), database.close(), worker.close()]);
      await test.drop();
    },
  };
}

async function insertTestTenant(admin: Database, limits: { readonly maxQueued?: number }): Promise<TestTenant> {
  const id = uuidv7();
  const providerId = uuidv7();
  await withTenant(admin.db, id, async (tx) => {
    await insertTenant(tx, { id, name: "test", ...limits });
    await insertProvider(tx, id, {
      id: providerId,
      name: "echo",
      kind: "echo",
      baseUrl: "",
      secret: null,
      allowPrivateNetwork: false,
      models: [{ model: "gpt-4o", contextLimit: 8_192, maxOutputTokens: null }],
    });
  });
  return { id, providerId: encodeId("provider", providerId), key: await insertKey(admin, id, {}) };
}

async function insertKey(
  admin: Database,
  tenantId: string,
  facts: { scopes?: readonly string[]; ownerId?: string; expiresAt?: Date },
): Promise<string> {
  const { key, keyId, secretHash } = makeApiKey("test", PEPPER);
  const row = { id: uuidv7(), keyId, secretHash, name: "test", scopes: ALL_TENANT_SCOPES, ...facts };
  await withTenant(admin.db, tenantId, (tx) => insertApiKey(tx, tenantId, row));
  return key;
}

async function insertTestAdminKey(admin: Database, scopes: readonly string[]): Promise<string> {
  const { key, keyId, secretHash } = makeApiKey("test", PEPPER);
  await insertAdminKey(admin.db, { id: uuidv7(), keyId, secretHash, name: "test", scopes });
  return key;
}

async function callChecked(
  app: FastifyInstance,
  method: Endpoint["method"],
  path: string,
  { key, body, headers }: CallOptions,
): Promise<CallAnswer> {
  const response = await app.inject({
    method,
    url: path,
    headers: { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...headers },
    ...(body === undefined ? {} : { payload: body as NonNullable<InjectOptions["payload"]> }),
  });
  const answer = response.body === "" ? null : JSON.parse(response.body);
  expectPromised(endpointOf(method, path), response, answer);
  return { status: response.statusCode, body: answer, headers: response.headers };
}

function expectPromised(endpoint: Endpoint | null, response: LightMyRequestResponse, body: unknown): void {
  expect(response.headers["x-request-id"]).toMatch(/\S/);
  if (response.statusCode >= 400) {
    expect(response.headers["content-type"]).toBe("application/problem+json");
    expect(ProblemDetails.parse(body)).toEqual(body);
    return;
  }
  if (endpoint === null) return;
  expect(endpoint.statuses).toContain(response.statusCode);
  if (endpoint.result !== null) expect(endpoint.result.parse(body)).toEqual(body);
}

/** The endpoint a path belongs to. */
function endpointOf(method: string, path: string): Endpoint | null {
  const segments = path.split("?")[0]?.split("/") ?? [];
  const matches = (pattern: string) => {
    const parts = pattern.split("/");
    return parts.length === segments.length && parts.every((part, at) => part.startsWith(":") || part === segments[at]);
  };
  return Object.values<Endpoint>(ENDPOINTS).find((each) => each.method === method && matches(each.path)) ?? null;
}

function loggerFor(onLogLine: ((line: string) => void) | undefined): Logger {
  if (onLogLine === undefined) return createLogger({ level: "silent", name: "test" });
  return createLogger({ level: "info", name: "test", destination: { write: onLogLine } });
}
