// What one generation costs: CPU time by process (API, worker, PostgreSQL, Redis), bytes of audit and of WAL, and how long
// an idle installation takes from the accepting request to the provider's. Real processes, a provider that streams 50 words
// over HTTP, one event reader. Two designs: a trivial chat of 40 messages, and one of 200 that does not fit its window.
// Linux only: reads /proc.
import { setTimeout as delay } from "node:timers/promises";
import { openDatabase } from "../db/dist/src/index.js";
import { cpuByProcess } from "./support/cpu-by-process.mjs";
import { apiClient, startInstallation } from "./support/installation.mjs";
import { generate, makeChat, startWordProvider, takeTurn } from "./support/turns.mjs";

const WARM_UP = 200;
const GENERATIONS = 200;
const IDLE_TURNS = 60;
const DESIGNS = [
  { design: "trivial chat", messages: 40, sentences: 1, chats: 8 },
  { design: "chat beyond its window", messages: 200, sentences: 3, chats: 8 },
];
const TARGETS = { msPerGeneration: 4, auditKiB: 40, walKiB: 80, idleToProviderMsP50: 8 };

const installation = await startInstallation();
const provider = await startWordProvider(2);
const database = openDatabase({
  url: installation.databaseUrl,
  role: "shiftwork_owner",
  maxConnections: 1,
  applicationName: "bench",
});
try {
  const api = apiClient(installation, await installation.makeTenant(provider.url));
  for (const design of DESIGNS) console.log(JSON.stringify(await measure(api, design), null, 2));
} finally {
  await database.close();
  await installation.stop();
  provider.close();
}

async function measure(api, { design, messages, sentences, chats }) {
  const ids = await Promise.all(Array.from({ length: chats }, () => makeChat(api, messages, sentences)));
  await generate(api, ids, WARM_UP);
  const cpuBefore = cpuByProcess(installation.folder);
  const walBefore = await walBytes();
  await generate(api, ids, GENERATIONS);
  const walAfter = await walBytes();
  const cpuAfter = cpuByProcess(installation.folder);
  const ms = Object.fromEntries(
    Object.keys(cpuAfter).map((name) => [name, round((cpuAfter[name] - cpuBefore[name]) / GENERATIONS)]),
  );
  return {
    bench: "cpu-per-generation",
    design,
    generations: GENERATIONS,
    messages,
    msPerGeneration: { ...ms, total: round(Object.values(ms).reduce((sum, value) => sum + value, 0)) },
    auditKiB: await auditKiB(ids),
    walKiB: round((walAfter - walBefore) / 1_024 / GENERATIONS),
    idleToProviderMs: await idleToProvider(api, ids[0]),
    targets: TARGETS,
  };
}

function round(value) {
  return Math.round(value * 100) / 100;
}

async function walBytes() {
  const [{ bytes }] = await database.client`select pg_current_wal_lsn() - '0/0'::pg_lsn as bytes`;
  return Number(bytes);
}

/** Median size of the chats' last audits, as stored. */
async function auditKiB(chatIds) {
  const uuids = chatIds.map((id) => id.replace("chat_", ""));
  return database.client.begin(async (tx) => {
    await tx`set local role none`; // rows of every tenant
    const [{ bytes }] = await tx`
      select percentile_disc(0.5) within group (order by octet_length(document)) as bytes
      from prompt_context_audits
      where chat_id = any(${uuids}::uuid[]) and slot = 'finished'
    `;
    return round(bytes / 1_024);
  });
}

/** From the moment a turn is posted to the moment the provider has its request, one turn at a time. */
async function idleToProvider(api, chatId) {
  const waits = [];
  for (let n = 0; n < IDLE_TURNS; n += 1) {
    await delay(50);
    const postedAt = performance.now();
    await takeTurn(api, chatId, n);
    waits.push(provider.lastRequestAt() - postedAt);
  }
  waits.sort((a, b) => a - b);
  return { p50: round(waits[IDLE_TURNS / 2]), p90: round(waits[Math.floor(IDLE_TURNS * 0.9)]) };
}
