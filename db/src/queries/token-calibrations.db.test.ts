import { afterAll, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { openDatabase, type Database } from "../client.ts";
import { insertTestChat, openTestDatabase, type TestChat, type TestDatabase } from "../testing/index.ts";
import { withTenant } from "../transaction.ts";
import { findCalibration, recordCountSample, type CalibrationPlace } from "./token-calibrations.ts";

let database: TestDatabase;
let admin: Database;
let worker: Database;
let chat: TestChat;
let place: CalibrationPlace;

beforeAll(async () => {
  database = await openTestDatabase(inject("databaseUrl"));
  const open = (role: "shiftwork_admin" | "shiftwork_worker") =>
    openDatabase({ url: database.url, role, maxConnections: 10, applicationName: "test" });
  [admin, worker] = [open("shiftwork_admin"), open("shiftwork_worker")];
});
beforeEach(async () => {
  chat = await insertTestChat(admin.db, worker.db);
  place = { providerId: chat.providerId, model: "claude-x", profile: "estimate:claude", profileVersion: 2 };
});
afterAll(async () => {
  for (const each of [admin, worker]) await each.close();
  await database.drop();
});

const find = (at = place) => withTenant(worker.db, chat.tenantId, (tx) => findCalibration(tx, chat.tenantId, at));
const record = (reportedTokens: number, at = place) =>
  withTenant(worker.db, chat.tenantId, (tx) =>
    recordCountSample(tx, chat.tenantId, at, { estimatedTokens: 1_000, factor: 1, reportedTokens }),
  );

test("nothing is multiplied before enough was learned, then all of it is, for this model at this provider alone", async () => {
  for (let request = 1; request <= 4; request += 1) await record(1_300);
  expect(await find()).toBe(null);
  await record(1_300);
  expect(await find()).toEqual({ version: 1, factor: 1.3 });
  expect(await find({ ...place, model: "claude-y" })).toBe(null);
});

test("another profile begins anew, under a version that was never used", async () => {
  for (let request = 1; request <= 5; request += 1) await record(1_300);
  const other = { ...place, profileVersion: 3 };
  expect(await find(other)).toBe(null);
  await record(1_500, other);
  expect(await find(other)).toEqual({ version: 2, factor: 1 });
  for (let request = 1; request <= 4; request += 1) await record(1_500, other);
  expect(await find(other)).toEqual({ version: 3, factor: 1.5 });
});

test("of requests that end at the same time none is lost once there is a row", async () => {
  await record(1_300);
  const all = await Promise.all(Array.from({ length: 12 }, () => record(1_300)));
  expect(Math.max(...all.map(({ samples }) => samples))).toBe(13);
});

test("it goes with its provider", async () => {
  for (let request = 1; request <= 5; request += 1) await record(1_300);
  await withTenant(admin.db, chat.tenantId, (tx) =>
    tx.deleteFrom("providers").where("tenant_id", "=", chat.tenantId).where("id", "=", chat.providerId).execute(),
  );
  expect(await find()).toBe(null);
});
