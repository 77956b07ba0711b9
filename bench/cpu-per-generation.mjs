// What one generation costs: CPU time by process (API, worker, PostgreSQL, Redis), bytes of audit and of WAL, and how long
// an idle installation takes from the accepting request to the provider's. Real processes, a provider that streams 50 words
// over HTTP, one event reader. Two designs: a trivial chat of 40 messages, and one of 200 that does not fit its window.
// Linux only: reads /proc.
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { openDatabase } from "../db/dist/src/index.js";
import { cpuByProcess } from "../scripts/cpu-by-process.mjs";
import { apiClient, startInstallation } from "./support/installation.mjs";

const WARM_UP = 80;
const GENERATIONS = Number(process.env.GENERATIONS || 200);
const IDLE_TURNS = 60;
const SENTENCE = "The tide turned while they counted the posts along the causeway, and nobody spoke of the bell. ";
const DESIGNS = [
  { design: "trivial chat", messages: 40, text: SENTENCE, chats: 8 },
  { design: "chat beyond its window", messages: 200, text: SENTENCE.repeat(3), chats: 8 },
];
const TARGETS = { msPerGeneration: 4, auditKiB: 40, walKiB: 80, idleToProviderMsP50: 8 };

const installation = await startInstallation();
const provider = await startProvider();
const database = openDatabase({
  url: installation.databaseUrl,
  role: "shiftwork_owner",
  maxConnections: 1,
  applicationName: "bench",
});
try {
  const api = apiClient(installation, await installation.makeTenant(provider.url));
  for (const design of DESIGNS.slice(0, Number(process.env.D || 2)))
    console.log(JSON.stringify(await measure(api, design), null, 2));
} finally {
  await database.close();
  await installation.stop();
  provider.close();
}

async function measure(api, { design, messages, text, chats }) {
  const ids = await Promise.all(Array.from({ length: chats }, () => makeChat(api, messages, text)));
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

async function makeChat(api, messages, text) {
  const { id } = await api.post("/chats", { title: "bench" });
  for (let n = 0; n < messages; n += 1) {
    await api.post(`/chats/${id}/messages`, { role: n % 2 === 0 ? "user" : "assistant", content: `${n}: ${text}` });
  }
  return id;
}

/** Each chat takes its turns one after the other, all chats side by side. */
async function generate(api, chats, count) {
  await Promise.all(
    chats.map(async (id) => {
      for (let n = 0; n < count / chats.length; n += 1) await takeTurn(api, id, n);
    }),
  );
}

async function takeTurn(api, chatId, number) {
  const events = await api.stream(`/chats/${chatId}/generations`, { message: `Turn ${number}?` });
  if (!events.includes("generation.completed")) throw new Error(`a generation did not complete: ${events.slice(-500)}`);
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

async function startProvider() {
  const words = Array.from({ length: 50 }, (_, n) => `word${n} `);
  const chunk = (delta, finish = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const chunks = words.map((content) => chunk({ content }));
  let lastRequestAt = 0;
  const server = createServer((request, response) => {
    lastRequestAt = performance.now();
    request.resume().on("end", () => void streamWords(response, chunks, chunk({}, "stop")));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    lastRequestAt: () => lastRequestAt,
    close: () => server.close(),
  };
}

async function streamWords(response, chunks, last) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const chunk of chunks) {
    response.write(chunk);
    await delay(2);
  }
  response.end(`${last}data: [DONE]\n\n`);
}
