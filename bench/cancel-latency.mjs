// How long an accepted cancel takes to reach the provider's socket, by its signal and by the sweep alone, and cancels raced
// against completion. Real processes with their usual intervals. `CANCEL_RACES` = how many races; default 5,000.
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { openDatabase } from "../db/dist/src/index.js";
import { startInstallation } from "./support/installation.mjs";

const BY_SIGNAL = 400;
const BY_SWEEP = 100;
// Fewer than one tenant may run at once: all of them hang.
const TOGETHER = 10;
const TURNS_PER_CHAT = 10;
const RACES = Number(process.env.CANCEL_RACES ?? 5_000);
const TARGETS = { signal: { p50: 30, p99: 200 }, sweep: { max: 1_200 }, violations: 0 };

const installation = await startInstallation();
const provider = await startProvider();
try {
  const apiKey = await installation.makeTenant(provider.url);
  const signal = await measureLatency(apiKey, BY_SIGNAL);
  const race = await raceCancels(apiKey, RACES);
  await installation.restart(muteCancels);
  const sweep = await measureLatency(apiKey, BY_SWEEP);
  console.log(JSON.stringify({ bench: "cancel-latency", unit: "ms", targets: TARGETS, signal, sweep, race }, null, 2));
  if (race.violations > 0) process.exitCode = 1;
} finally {
  await installation.stop();
  provider.close();
}

/** From the moment the cancel is sent to the moment the provider sees its connection closed; half before the first token. */
async function measureLatency(apiKey, count) {
  const api = client(apiKey);
  const chats = await Promise.all(Array.from({ length: TOGETHER }, () => api.post("/chats", {})));
  const latencies = [];
  for (let done = 0; done < count; done += TOGETHER) {
    const begun = await Promise.all(chats.map(({ body }, index) => beginHanging(api, body.id, done + index)));
    latencies.push(...(await Promise.all(begun.map(({ id, call }) => cancelHanging(api, id, call)))));
  }
  return summary(latencies);
}

async function beginHanging(api, chatId, number) {
  const name = `hang-${number}-${performance.now()}`;
  const arrived = provider.expect(name);
  const { body } = await api.post(`/chats/${chatId}/generations`, { message: `${name} words ${number % 2}` });
  return { id: body.id, call: await arrived };
}

async function cancelHanging(api, id, call) {
  const sentAt = performance.now();
  const [closedAt, { status, body }] = await Promise.all([call.closed, api.post(`/generations/${id}/cancel`, {})]);
  if (status !== 202) throw new Error(`a cancel was answered ${status} ${JSON.stringify(body)}`);
  await api.untilEnded(id);
  return closedAt - sentAt;
}

/** Cancels at a random moment around the end: whatever was accepted is cancelled, whatever was refused completed. */
async function raceCancels(apiKey, count) {
  const api = client(apiKey);
  const outcomes = {};
  let left = count;
  let violations = 0;
  let usualMs = 50;
  const racer = async () => {
    let chat = null;
    for (let turn = 0; left > 0; turn += 1) {
      left -= 1;
      if (turn % TURNS_PER_CHAT === 0) chat = (await api.post("/chats", {})).body;
      const startedAt = performance.now();
      const { body } = await api.post(`/chats/${chat.id}/generations`, { message: "race" });
      await delay(Math.random() * usualMs * 1.2);
      const { status } = await api.post(`/generations/${body.id}/cancel`, {});
      const ended = await api.untilEnded(body.id);
      if (ended === "completed") usualMs = usualMs * 0.95 + (performance.now() - startedAt) * 0.05;
      const accepted = status === 200 || status === 202;
      if (accepted ? ended !== "cancelled" : ended !== "completed") violations += 1;
      const outcome = `${status} ${ended}`;
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, racer));
  return { races: count, outcomes, violations };
}

/** From now on, in new sessions, the signal of a cancel goes nowhere: a function of the same name stands before it. */
async function muteCancels() {
  const database = openDatabase({
    url: installation.databaseUrl,
    role: "shiftwork_owner",
    maxConnections: 1,
    applicationName: "bench",
  });
  await database.client.begin(async (tx) => {
    await tx`set local role none`;
    await tx`create schema mute`;
    await tx`grant usage on schema mute to public`;
    await tx`
      create function mute.pg_notify(channel text, payload text) returns void language sql as $$
        select pg_catalog.pg_notify(channel, payload) where channel <> 'shiftwork_cancel'
      $$
    `;
    await tx`alter database shiftwork set search_path = mute, pg_catalog, public`;
  });
  await database.close();
}

/** Hangs when the message says so, before the first token or behind one; else answers at once. */
async function startProvider() {
  const waiting = new Map();
  const chunk = (content) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
  const serve = async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
    const [, name, words] = /(hang-\S+) words (\d)/.exec(body.messages.at(-1).content) ?? [];
    response.writeHead(200, { "content-type": "text/event-stream" });
    if (name === undefined) {
      response.end(`${chunk("Quick ")}${chunk("reply.")}data: [DONE]\n\n`);
      return;
    }
    response.flushHeaders();
    if (words === "1") response.write(chunk("Some words"));
    const closed = new Promise((resolve) => response.once("close", () => resolve(performance.now())));
    waiting.get(name)?.({ closed });
  };
  const server = createServer((request, response) => void serve(request, response));
  // A kept connection that this end closes while a request is on its way would be another measurement.
  server.keepAliveTimeout = 0;
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    expect: (name) => new Promise((resolve) => waiting.set(name, resolve)),
    close: () => server.close(),
  };
}

function client(apiKey) {
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const call = async (method, path, json) => {
    const init = { method, headers: json === undefined ? { authorization: headers.authorization } : headers };
    const answer = await fetch(`${installation.url}/api/v2${path}`, { ...init, body: json && JSON.stringify(json) });
    if (answer.status >= 500 || answer.status === 400) throw new Error(`${path}: ${await answer.text()}`);
    return { status: answer.status, body: await answer.json() };
  };
  return {
    post: (path, json) => call("POST", path, json),
    async untilEnded(id) {
      for (;;) {
        const { status } = (await call("GET", `/generations/${id}`)).body;
        if (["completed", "failed", "cancelled"].includes(status)) return status;
        await delay(5);
      }
    },
  };
}

function summary(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (share) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] * 10) / 10;
  return { cancels: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}
