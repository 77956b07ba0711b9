// How long light tenants wait for their start while another tenant's flood is worked off, by the product's dispatcher and by
// a first-in-first-out one, with the same workers, rows and queue. Real processes, Redis, the echo provider with five words
// of 20 ms. Linux only: reads /proc. FLOOD, SLOTS and LIGHT_TENANTS change the size.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { giveLeaseBack, markDispatched, migrate, newId, openDatabase, takeLease } from "../db/dist/src/index.js";
import { launchServices, openQueue } from "../packages/platform/dist/index.js";
import { insertTurns, makeTenant, percentile } from "./support/inserted-turns.mjs";
import { cpuByProcess } from "./support/cpu-by-process.mjs";
import { serviceEnvironment } from "../scripts/processes.mjs";
import { ROOT } from "../scripts/run-command.mjs";

const FLOOD = Number(process.env.FLOOD || 10_000);
const SLOTS = Number(process.env.SLOTS || 8);
const LIGHT_TENANTS = Number(process.env.LIGHT_TENANTS || 5);
/** Of what the workers can run, all light tenants together ask for this part: a tenth leaves them light on any machine. */
const LIGHT_SHARE = 0.1;
const WARM_UP = 60;
/** Both dispatchers take turns: a machine that others use too is not equally fast all the time. */
const ROUNDS = Number(process.env.ROUNDS || 2);
const BATCH = 1_000;
const TEXT = "/repeat 5";
const CPU_KINDS = ["worker", "postgres", "redis"];

const folder = mkdtempSync(join(tmpdir(), "shiftwork-bench-"));
const secrets = { masterKey: Buffer.alloc(32, 1).toString("base64"), apiKeyPepper: "a pepper for measurements" };
const services = await launchServices({ dir: folder, redis: true, postgres: "npm", fast: false });
if (services.redisUrl === null) throw new Error("this measurement needs a Redis");
await migrate(services.databaseUrl);
const open = (role) => openDatabase({ url: services.databaseUrl, role, maxConnections: 8, applicationName: "bench" });
const [admin, api, worker] = [open("shiftwork_admin"), open("shiftwork_api"), open("shiftwork_worker")];
/** Pause between two turns of a light tenant; set by the first warm-up, the same for both dispatchers. */
let lightEveryMs = null;
try {
  const rounds = { fifo: [], fair: [] };
  for (let turn = 0; turn < ROUNDS; turn += 1) {
    rounds.fifo.push(await measure(`fifo-${turn}`, startFifo));
    rounds.fair.push(await measure(`fair-${turn}`, async () => async () => {}));
  }
  const [fifo, fair] = [summary(rounds.fifo), summary(rounds.fair)];
  const size = {
    rounds: ROUNDS,
    flood: FLOOD,
    slots: SLOTS,
    lightTenants: LIGHT_TENANTS,
    lightEveryMs: round(lightEveryMs),
  };
  const figures = { bench: "fairness", ...size, fair, fifo };
  const ratio = {
    p95WaitFifoToFair: round(fifo.lightWaitMs.p95 / fair.lightWaitMs.p95),
    throughputFairToFifo: round(fair.perSecond / fifo.perSecond),
    cpuFairToFifo: round(fair.cpuMsPerGeneration.total / fifo.cpuMsPerGeneration.total),
  };
  console.log(JSON.stringify({ ...figures, ratio }, null, 2));
} finally {
  await Promise.all([admin.close(), api.close(), worker.close()]);
  await services.stop();
  rmSync(folder, { recursive: true, force: true });
}

function round(value) {
  return Math.round(value * 100) / 100;
}

/** `startDispatcher` takes the lead before a worker does, or leaves it to the worker. */
async function measure(name, startDispatcher) {
  const queueName = `bench-${name}`;
  const stopDispatcher = await startDispatcher(queueName);
  const stopWorker = await startWorker(queueName);
  const heavy = await makeTenant(admin, { maxConcurrency: 1_000, maxQueued: 100_000 });
  const light = await Promise.all(Array.from({ length: LIGHT_TENANTS }, () => makeTenant(admin, {})));
  const warmMs = await warmUp(heavy);
  lightEveryMs ??= (LIGHT_TENANTS * warmMs) / WARM_UP / LIGHT_SHARE;
  const before = cpuByProcess(folder);
  const startedAt = performance.now();
  const flooded = { ids: [], over: false };
  for (let left = FLOOD; left > 0; left -= BATCH) {
    flooded.ids.push(...(await insertTurns(api, heavy, Math.min(left, BATCH), TEXT)));
  }
  const posted = Promise.all(light.map((tenant) => postUntil(tenant, () => flooded.over)));
  await untilEnded(heavy.tenantId);
  const seconds = (performance.now() - startedAt) / 1_000;
  flooded.over = true;
  const lightIds = (await posted).flat();
  for (const { tenantId } of light) await untilEnded(tenantId);
  const after = cpuByProcess(folder);
  await stopWorker();
  await stopDispatcher();
  return {
    waits: await waitsOf(lightIds),
    heavyWaits: await waitsOf(flooded.ids),
    seconds,
    cpuMs: Object.fromEntries(CPU_KINDS.map((kind) => [kind, after[kind] - before[kind]])),
  };
}

function summary(rounds) {
  const waits = rounds.flatMap((each) => each.waits);
  const sum = (of) => rounds.reduce((total, each) => total + of(each), 0);
  const generations = FLOOD * rounds.length + waits.length;
  const cpu = Object.fromEntries(CPU_KINDS.map((kind) => [kind, round(sum((each) => each.cpuMs[kind]) / generations)]));
  return {
    lightTurns: waits.length,
    lightWaitMs: { p50: percentile(waits, 50), p95: percentile(waits, 95), p99: percentile(waits, 99) },
    heavyWaitP50Ms: percentile(
      rounds.flatMap((each) => each.heavyWaits),
      50,
    ),
    perSecond: round((FLOOD * rounds.length) / sum((each) => each.seconds)),
    cpuMsPerGeneration: { ...cpu, total: round(CPU_KINDS.reduce((total, kind) => total + cpu[kind], 0)) },
  };
}

async function warmUp(tenant) {
  const startedAt = performance.now();
  await insertTurns(api, tenant, WARM_UP, TEXT);
  await untilEnded(tenant.tenantId);
  return performance.now() - startedAt;
}

async function postUntil(tenant, isOver) {
  const ids = [];
  // Not in step with each other, and not with what ends.
  await delay(Math.random() * lightEveryMs);
  while (!isOver()) {
    ids.push(...(await insertTurns(api, tenant, 1, TEXT)));
    await delay(lightEveryMs * (0.9 + Math.random() * 0.2));
  }
  return ids;
}

async function untilEnded(tenantId) {
  for (;;) {
    const [active] = await worker.client`
      select from generations where tenant_id = ${tenantId} and status in ('queued', 'running') limit 1
    `;
    if (active === undefined) return;
    await delay(50);
  }
}

/** Milliseconds from accepted to started; each of them must have completed. */
async function waitsOf(ids) {
  const rows = await worker.client`
    select status, extract(epoch from started_at - created_at)::float8 * 1000 as wait
    from generations where id = any(${ids}::uuid[])
  `;
  const lost = rows.filter((row) => row.status !== "completed");
  if (lost.length > 0) throw new Error(`${lost.length} generations ended as ${lost[0].status}`);
  return rows.map((row) => round(row.wait));
}

async function startWorker(queueName) {
  const settings = { QUEUE_NAME: queueName, WORKER_CONCURRENCY: String(SLOTS), LOG_LEVEL: "info" };
  const child = spawn(
    process.execPath,
    ["--import", join(ROOT, "scripts", "end-with-parent.mjs"), join(ROOT, "services", "worker", "dist", "main.js")],
    {
      env: { ...process.env, ...serviceEnvironment({ ...services, secrets }), ...settings },
      stdio: ["pipe", "pipe", "inherit"],
    },
  );
  await new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the worker ended with ${code}`)));
    child.stdout.on("data", (text) => String(text).includes('"msg":"worker ready"') && resolve());
  });
  return async () => {
    child.kill("SIGTERM");
    await once(child, "exit");
  };
}

/** What a job per request comes to: everything goes to the queue at once, oldest first, all alike. */
async function startFifo(queueName) {
  const holder = newId();
  const queue = openQueue({ name: queueName, url: services.redisUrl, onError: () => {} });
  const lead = () => takeLease(worker.db, "leader", holder, 60_000);
  if (!(await lead())) throw new Error("somebody else leads");
  const renewal = setInterval(() => void lead(), 10_000);
  let pass = Promise.resolve();
  let waits = false;
  const wake = () => {
    if (waits) return;
    waits = true;
    pass = pass.then(async () => {
      waits = false;
      while ((await handOutOldest(queue)) > 0);
    });
  };
  const listener = await worker.client.listen("shiftwork_dispatch", wake);
  return async () => {
    await listener.unlisten();
    clearInterval(renewal);
    await pass;
    await giveLeaseBack(worker.db, "leader", holder);
    await queue.close();
  };
}

async function handOutOldest(queue) {
  const jobs = await worker.client`
    select tenant_id as "tenantId", id as "generationId", epoch from generations
    where status = 'queued' and dispatched_at is null order by id limit ${BATCH}
  `;
  if (jobs.length > 0) {
    await queue.add(jobs.map((job) => ({ ...job, priority: 1 })));
    await markDispatched(worker.db, jobs);
  }
  return jobs.length;
}
