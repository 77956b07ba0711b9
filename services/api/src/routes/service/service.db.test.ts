import { openDatabase, type Database } from "@shiftwork/db";
import { openTestDatabase } from "@shiftwork/db/testing";
import { createLogger, createTokenizers, loadPlugins } from "@shiftwork/platform";
import type { FastifyInstance } from "fastify";
import { afterAll, afterEach, expect, inject, test } from "vitest";
import { createApp } from "../../app.ts";
import { makeApiKey } from "../../auth/api-key.ts";
import { HttpProblem } from "../../errors.ts";
import { createStreamRegistry } from "../../events/stream-registry.ts";
import { checkReadiness } from "../../health/check-readiness.ts";

const test1 = await openTestDatabase(inject("databaseUrl"));
const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});
afterAll(() => test1.drop());

test("a migrated database that answers makes the API ready", async () => {
  const app = await appOn(open(test1.url));
  expect((await app.inject("/readyz")).json()).toEqual({ status: "ok" });
  expect((await app.inject("/livez")).json()).toEqual({ status: "ok" });
  expect((await app.inject("/api/v2/version")).json()).toEqual({ version: "1.2.3", apiVersion: 2, plugins: [] });
});

test("a database without migrations is pending, not broken", async () => {
  const url = new URL(test1.url);
  url.pathname = "/postgres";
  const app = await appOn(open(url.href));
  const answer = await app.inject("/readyz");
  expect([answer.statusCode, answer.json().code]).toEqual([503, "MIGRATION_PENDING"]);
});

test("while the database is away requests are 503 with Retry-After, and the process is alive", async () => {
  const app = await appOn(open("postgres://nobody@127.0.0.1:9/none"));
  const { key } = makeApiKey("test", "pepper");
  for (const url of ["/readyz", "/api/v2/chats"]) {
    const answer = await app.inject({ url, headers: { authorization: `Bearer ${key}` } });
    expect([answer.statusCode, answer.json().code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
    expect(answer.headers["retry-after"]).toBe("1");
    expect(answer.body).not.toContain("127.0.0.1");
  }
  expect((await app.inject("/livez")).statusCode).toBe(200);
});

test("a process that shuts down is not ready", async () => {
  const app = await appOn(open(test1.url), async () => new HttpProblem("SHUTTING_DOWN", "bye"));
  expect((await app.inject("/readyz")).json()).toMatchObject({ status: 503, code: "SHUTTING_DOWN" });
});

function open(url: string): Database {
  const database = openDatabase({ url, role: "shiftwork_api", maxConnections: 1, applicationName: "api-test" });
  opened.push(database);
  return database;
}

async function appOn(database: Database, readiness = () => checkReadiness(database)): Promise<FastifyInstance> {
  const app = await createApp({
    db: database.db,
    adminDb: database.db,
    queue: { add: async () => {}, remove: async () => false },
    eventLog: { read: async () => [], forget: async () => {}, subscribe: () => () => {}, close: async () => {} },
    streams: createStreamRegistry(),
    logger: createLogger({ level: "silent", name: "test" }),
    pepper: "pepper",
    version: "1.2.3",
    tokenizers: createTokenizers(),
    plugins: await loadPlugins([]),
    previewer: { preview: async () => new Uint8Array() },
    health: async () => Promise.reject(new Error("not called")),
    wakeBulkActions: () => {},
    deadAfterMs: 1_000,
    readiness,
  });
  opened.push(app);
  return app;
}
