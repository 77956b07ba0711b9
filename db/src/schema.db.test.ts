import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { openDatabase, type Database } from "./client.ts";
import { dumpSchema } from "./dump-schema.ts";
import { migrate } from "./migrate.ts";
import { openTestDatabase, type TestDatabase } from "./testing/index.ts";

let test: TestDatabase;
let database: Database;

beforeAll(async () => {
  test = await openTestDatabase(inject("databaseUrl"));
  database = openDatabase({ url: test.url, role: "shiftwork_owner", maxConnections: 1, applicationName: "test" });
});

afterAll(async () => {
  await database.close();
  await test.drop();
});

it("the committed schema.sql is what the migrations make", async () => {
  const committed = readFileSync(new URL("../schema.sql", import.meta.url), "utf8");
  expect(await dumpSchema(database.client)).toBe(committed);
});

it("migrating an up-to-date database does nothing", async () => {
  expect(await migrate(test.url)).toEqual([]);
});
