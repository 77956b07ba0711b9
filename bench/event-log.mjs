// CPU time one generation costs with its frames in PostgreSQL and in Redis, over all processes: API, worker, PostgreSQL,
// Redis. Real processes, a provider that streams 50 words at the pace of a model, one reader per generation. The two take
// turns, so that a busy machine is busy for both; medians. Linux only: reads /proc.
import { cpuByProcess } from "./support/cpu-by-process.mjs";
import { apiClient, startInstallation } from "./support/installation.mjs";
import { generate, makeChat, startWordProvider } from "./support/turns.mjs";

const LOGS = ["postgres", "redis"];
const PACES_MS = [2, 20];
const REPEATS = 5;
const WARM_UP = 16;
const GENERATIONS = 160;
const CONCURRENCY = 16;
const MESSAGES = 20;

const installation = await startInstallation();
try {
  const results = [];
  for (const paceMs of PACES_MS) results.push(await compare(paceMs));
  console.log(JSON.stringify({ bench: "event-log", generations: GENERATIONS, repeats: REPEATS, results }, null, 2));
} finally {
  await installation.stop();
}

async function compare(paceMs) {
  const runs = { postgres: [], redis: [] };
  for (let repeat = 0; repeat < REPEATS; repeat += 1) {
    for (const log of repeat % 2 === 0 ? LOGS : LOGS.toReversed()) {
      const run = await measure(log, paceMs);
      console.error(JSON.stringify({ paceMs, log, ...run }));
      runs[log].push(run);
    }
  }
  const [postgres, redis] = LOGS.map((log) => medians(runs[log]));
  return { paceMs, msPerGeneration: { postgres, redis }, redisToPostgres: round(redis.total / postgres.total) };
}

async function measure(log, paceMs) {
  process.env.EVENT_LOG = log;
  await installation.restart();
  const provider = await startWordProvider(paceMs);
  try {
    const api = apiClient(installation, await installation.makeTenant(provider.url));
    const chats = await Promise.all(Array.from({ length: CONCURRENCY }, () => makeChat(api, MESSAGES, 3)));
    await generate(api, chats, WARM_UP);
    const before = cpuByProcess(installation.folder);
    await generate(api, chats, GENERATIONS);
    const after = cpuByProcess(installation.folder);
    const ms = Object.fromEntries(Object.keys(after).map((name) => [name, (after[name] - before[name]) / GENERATIONS]));
    return { ...ms, total: Object.values(ms).reduce((sum, value) => sum + value, 0) };
  } finally {
    provider.close();
  }
}

/** Of each column by itself: the total is the median of totals, not the sum of medians. */
function medians(runs) {
  return Object.fromEntries(Object.keys(runs[0]).map((name) => [name, round(median(runs.map((run) => run[name])))]));
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

function round(value) {
  return Math.round(value * 100) / 100;
}
