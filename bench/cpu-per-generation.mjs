// CPU time one generation costs, by process: API, worker, PostgreSQL, Redis. Real processes, a provider that streams 50
// words over HTTP, a chat of 200 messages that does not fit its window. Linux only: reads /proc.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "../db/dist/src/index.js";
import { launchServices } from "../packages/platform/dist/index.js";
import { cpuByProcess } from "../scripts/cpu-by-process.mjs";
import { capture, ROOT } from "../scripts/run-command.mjs";
import { serviceEnvironment, startProcesses } from "../scripts/processes.mjs";

const WARM_UP = 20;
const GENERATIONS = 200;
const CONCURRENCY = 8;
const MESSAGES = 200;

const folder = mkdtempSync(join(tmpdir(), "shiftwork-bench-"));
const secrets = { masterKey: Buffer.alloc(32, 1).toString("base64"), apiKeyPepper: "a pepper for measurements" };
const launched = await launchServices({ dir: folder, redis: true, postgres: "npm", fast: false });
const services = { ...launched, secrets };
await migrate(services.databaseUrl);
const provider = await startProvider();
const processes = await startProcesses(services, (name) => console.error(`the ${name} died`));
try {
  const api = await makeTenant();
  const chats = await Promise.all(Array.from({ length: CONCURRENCY }, () => makeChat(api)));
  await generate(api, chats, WARM_UP);
  const before = cpuByProcess(folder);
  await generate(api, chats, GENERATIONS);
  const after = cpuByProcess(folder);
  console.log(JSON.stringify(report(before, after), null, 2));
} finally {
  await processes.stop();
  await launched.stop();
  provider.close();
  rmSync(folder, { recursive: true, force: true });
}

function report(before, after) {
  const ms = Object.fromEntries(
    Object.keys(after).map((name) => [name, round((after[name] - (before[name] ?? 0)) / GENERATIONS)]),
  );
  const total = Object.values(ms).reduce((sum, value) => sum + value, 0);
  const share = Object.fromEntries(Object.entries(ms).map(([name, value]) => [name, round(value / total)]));
  return {
    bench: "cpu-per-generation",
    generations: GENERATIONS,
    messages: MESSAGES,
    msPerGeneration: ms,
    total: round(total),
    share,
  };
}

function round(value) {
  return Math.round(value * 100) / 100;
}

async function startProvider() {
  const words = Array.from({ length: 50 }, (_, n) => `word${n} `);
  const chunk = (delta, finish = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const server = createServer((request, response) => {
    request.resume().on(
      "end",
      () =>
        void streamWords(
          response,
          words.map((content) => chunk({ content })),
          chunk({}, "stop"),
        ),
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}/v1`, close: () => server.close() };
}

async function streamWords(response, chunks, last) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const chunk of chunks) {
    response.write(chunk);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  response.end(`${last}data: [DONE]\n\n`);
}

async function makeTenant() {
  const program = join(ROOT, "services", "api", "dist", "provision.js");
  const flags = ["--tenant", "bench", "--provider-kind", "openai-compatible", "--base-url", provider.url];
  const model = ["--model", "gpt-4o", "--context-limit", "8192", "--allow-private-network"];
  const { output } = await capture(process.execPath, [program, ...flags, ...model], {
    env: serviceEnvironment(services),
  });
  const { apiKey } = JSON.parse(output);
  return async (path, body) => {
    const answer = await fetch(`${processes.url}/api/v2${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${apiKey}`,
        "content-type": "application/json",
        accept: body.accept ?? "application/json",
      },
      body: JSON.stringify(body.json),
    });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
    return answer;
  };
}

async function makeChat(api) {
  const { id } = await (await api("/chats", { json: { title: "bench" } })).json();
  const text = "The tide turned while they counted the posts along the causeway, and nobody spoke of the bell. ".repeat(
    3,
  );
  for (let n = 0; n < MESSAGES; n += 1) {
    const json = { role: n % 2 === 0 ? "user" : "assistant", content: `${n}: ${text}` };
    await (await api(`/chats/${id}/messages`, { json })).json();
  }
  return id;
}

/** Each chat takes its turns one after the other, all chats side by side. */
async function generate(api, chats, count) {
  await Promise.all(
    chats.map(async (id) => {
      for (let n = 0; n < count / chats.length; n += 1) {
        const answer = await api(`/chats/${id}/generations`, {
          json: { message: `Turn ${n}?` },
          accept: "text/event-stream",
        });
        const events = await answer.text();
        if (!events.includes("generation.completed"))
          throw new Error(`a generation did not complete: ${events.slice(-500)}`);
      }
    }),
  );
}
