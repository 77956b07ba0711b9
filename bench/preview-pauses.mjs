// The longest pause of the API's event loop while ten previews of a 10,000-message chat run at once, each with what-ifs
// under every built-in strategy. The timer that sees the pauses stands in the thread that serves requests.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { once } from "node:events";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { Worker } from "node:worker_threads";
import { ALL_TENANT_SCOPES, encodeId } from "../packages/contracts/dist/index.js";
import { createLogger, launchServices, loadPlugins } from "../packages/platform/dist/index.js";
import { createApp, createStreamRegistry, makeApiKey, previewsInThread } from "../services/api/dist/index.js";
import {
  appendMessages,
  insertApiKey,
  insertChat,
  insertProvider,
  insertTenant,
  migrate,
  newId,
  openDatabase,
  withTenant,
} from "../db/dist/src/index.js";

const MESSAGES = 10_000;
const PREVIEWS = 10;
const STRATEGIES = ["truncate", "summarize", "vector-recall", "manual", "compress"];
const PEPPER = "a pepper for measurements";

const folder = mkdtempSync(join(tmpdir(), "shiftwork-bench-"));
const services = await launchServices({ dir: folder, redis: false, postgres: "npm", fast: true });
await migrate(services.databaseUrl);
const open = (role) => openDatabase({ url: services.databaseUrl, role, maxConnections: 12, applicationName: "bench" });
const [admin, api] = [open("shiftwork_admin"), open("shiftwork_api")];
const mostWaiting = { ofTenant: PREVIEWS, inAll: PREVIEWS };
const previewer = previewsInThread({ databaseUrl: services.databaseUrl, plugins: [], masterKey: null, mostWaiting });
const app = await createApp({
  db: api.db,
  queue: { add: async () => {}, remove: async () => false },
  eventLog: { read: async () => [], subscribe: () => () => {}, close: async () => {} },
  streams: createStreamRegistry(),
  logger: createLogger({ level: "error", name: "bench" }),
  pepper: PEPPER,
  version: "bench",
  plugins: await loadPlugins([]),
  previewer,
  readiness: async () => null,
});
try {
  const { key, chatId } = await makeChat();
  await preview(key, chatId, STRATEGIES);
  const each = {};
  for (const strategy of STRATEGIES) each[strategy] = await measure(() => preview(key, chatId, [], strategy));
  const all = await measure(() => preview(key, chatId, STRATEGIES));
  const control = await measure(busyThread, 1);
  console.log(
    JSON.stringify({ bench: "preview-pauses", messages: MESSAGES, previews: PREVIEWS, each, all, control }, null, 2),
  );
} finally {
  await app.close();
  await previewer.close();
  await Promise.all([admin.close(), api.close()]);
  await services.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** A thread that computes for five seconds and asks for nothing: what the machine alone does to the timer. */
async function busyThread() {
  const thread = new Worker("const end = Date.now() + 5000; while (Date.now() < end);", { eval: true });
  await once(thread, "exit");
}

async function measure(work, times = PREVIEWS) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const startedAt = performance.now();
  const before = performance.eventLoopUtilization();
  await Promise.all(Array.from({ length: times }, work));
  delay.disable();
  const ms = (nanoseconds) => Math.round(nanoseconds / 1e5) / 10;
  return {
    longestPauseMs: ms(delay.max),
    p99PauseMs: ms(delay.percentile(99)),
    busyMs: Math.round(performance.eventLoopUtilization(before).active),
    totalMs: Math.round(performance.now() - startedAt),
  };
}

async function preview(key, chatId, strategies, contextStrategy = "truncate") {
  const answer = await app.inject({
    method: "POST",
    url: "/api/v2/context-preview",
    headers: { authorization: `Bearer ${key}` },
    payload: {
      chatId,
      message: "And then?",
      contextStrategy,
      include: ["content"],
      shifts: strategies.map((each) => ({ contextStrategy: each })),
    },
  });
  if (answer.statusCode !== 200) throw new Error(answer.body);
}

async function makeChat() {
  const [tenantId, chatId, providerId] = [newId(), newId(), newId()];
  const { key, keyId, secretHash } = makeApiKey("bench", PEPPER);
  await withTenant(admin.db, tenantId, async (tx) => {
    await insertTenant(tx, { id: tenantId, name: "bench" });
    await insertApiKey(tx, tenantId, { id: newId(), keyId, secretHash, name: "bench", scopes: ALL_TENANT_SCOPES });
    await insertProvider(tx, tenantId, {
      id: providerId,
      name: "echo",
      kind: "echo",
      baseUrl: "",
      secret: null,
      allowPrivateNetwork: false,
      models: [{ model: "gpt-4o", contextLimit: 8_192, maxOutputTokens: null }],
    });
  });
  await withTenant(api.db, tenantId, async (tx) => {
    const base = { title: "", characterId: null, personaId: null, ownerId: null, settings: {}, metadata: {} };
    await insertChat(tx, tenantId, { id: chatId, ...base });
    await appendMessages(
      tx,
      tenantId,
      chatId,
      Array.from({ length: MESSAGES }, (_, index) => messageOf(index)),
    );
  });
  return { key, chatId: encodeId("chat", chatId) };
}

/** About 600 characters, 140 tokens, no two alike. */
function messageOf(index) {
  const words = ["tide", "lamp", "stairs", "ledger", "rope", "keeper", "storm", "bottle", "chart", "harbour"];
  const sentence = (at) =>
    `In the night of day ${index} the ${words[(index + at) % 10]} stood by the ${words[at % 10]}. `;
  return {
    id: newId(),
    role: index % 2 === 0 ? "user" : "assistant",
    content: Array.from({ length: 12 }, (_, at) => sentence(at)).join(""),
    name: null,
    toolCalls: [],
    toolCallId: null,
    pinned: false,
    hidden: false,
    meta: {},
    variant: 0,
    alternatives: [],
    createdAt: null,
  };
}
