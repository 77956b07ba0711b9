// What one pass of the dispatcher costs while very many wait: 1,000 tenants with ten turns each, and one with 10,000. Every
// measured pass follows the end of one generation, as in a full installation; a look at all lines is measured by itself.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { heartbeat, migrate, newId, openDatabase } from "../db/dist/src/index.js";
import { launchServices, openQueue } from "../packages/platform/dist/index.js";
import { createDispatcher } from "../services/worker/dist/dispatch/dispatcher.js";
import { insertTurns, makeTenant, percentile } from "./support/inserted-turns.mjs";

const SLOTS = 32;
const PASSES = 300;
const CASES = [
  { tenants: 1, turns: 400 },
  { tenants: 1, turns: 10_000 },
  { tenants: 1_000, turns: 10 },
];

const folder = mkdtempSync(join(tmpdir(), "shiftwork-bench-"));
const services = await launchServices({ dir: folder, redis: true, postgres: "npm", fast: false });
await migrate(services.databaseUrl);
const open = (role) => openDatabase({ url: services.databaseUrl, role, maxConnections: 8, applicationName: "bench" });
const [admin, api, worker] = [open("shiftwork_admin"), open("shiftwork_api"), open("shiftwork_worker")];
try {
  const results = [];
  for (const each of CASES) results.push({ ...each, ...(await measure(each)) });
  console.log(JSON.stringify({ bench: "dispatch-passes", slots: SLOTS, passes: PASSES, results }, null, 2));
} finally {
  await Promise.all([admin.close(), api.close(), worker.close()]);
  await services.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function measure({ tenants, turns }) {
  await worker.client`delete from generations`;
  const queue = openQueue({
    name: `bench-${newId()}`,
    url: services.redisUrl ?? services.databaseUrl,
    onError: () => {},
  });
  for (let made = 0; made < tenants; made += 1) {
    await insertTurns(api, await makeTenant(admin, { maxConcurrency: 1_000 }), turns, "Hello?");
  }
  await worker.client`delete from workers`;
  await heartbeat(worker.db, { id: newId(), host: "bench", pid: process.pid, slots: SLOTS });
  const options = { db: worker.db, queue, windowRatio: 1.25, deadAfterMs: 3_600_000, lookAroundMs: 3_600_000 };
  const dispatcher = createDispatcher(options);
  const first = await timed(dispatcher);
  const passes = [];
  while (passes.length < Math.min(PASSES, tenants * turns - SLOTS)) {
    dispatcher.notice(await endOne());
    passes.push(await timed(dispatcher));
  }
  const looks = [];
  while (looks.length < 20) {
    dispatcher.notice(null);
    looks.push(await timed(dispatcher));
  }
  await queue.close();
  // The least is what the pass costs when nothing else runs on the machine.
  const ms = (numbers) => ({ least: Math.min(...numbers), p50: percentile(numbers, 50), p95: percentile(numbers, 95) });
  return { firstPassMs: first, passMs: ms(passes), passWithLookAroundMs: ms(looks) };
}

async function timed(dispatcher) {
  const startedAt = performance.now();
  await dispatcher.runOnce();
  return Math.round((performance.now() - startedAt) * 100) / 100;
}

/** The dispatched generation that has waited longest is over; returns whose it was. */
async function endOne() {
  const [{ tenantId }] = await worker.client`
    update generations set status = 'cancelled' where id = (
      select id from generations where status = 'queued' and dispatched_at is not null order by dispatched_at, id limit 1
    ) returning tenant_id as "tenantId"
  `;
  return tenantId;
}
