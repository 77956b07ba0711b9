import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { capture, ROOT } from "./run-command.mjs";
import { serviceEnvironment } from "./processes.mjs";

const DEMO = join(ROOT, "demo");
const KEPT = join(ROOT, ".data", "demo.json");
const WINDOW_TOKENS = 8192;

/**
 * The demo tenant, made on the first start and kept in `.data/demo.json`. Everything goes through the public API, as a
 * product would do it.
 *
 * @returns {Promise<{ apiKey: string, chatId: () => string, generate: () => Promise<object> }>}
 */
export async function openDemo(services, url) {
  const tenant = await keptTenant(services, url).then((kept) => kept ?? makeTenant(services, url));
  let chatId = "";
  return {
    apiKey: tenant.apiKey,
    chatId: () => chatId,
    /** A fresh copy of the demo chat, one turn in it, and everything there is to know about that turn. */
    async generate() {
      const api = client(url, tenant.apiKey);
      chatId = await importChat(api, tenant);
      const turn = JSON.parse(readFileSync(join(DEMO, "turn.json"), "utf8"));
      const events = await api.stream("POST", `/api/v2/chats/${chatId}/generations`, { message: turn.message });
      const last = events.at(-1);
      const generation = await api.json("GET", `/api/v2/generations/${last.generationId}`);
      const { audit } = await api.json("GET", `/api/v2/chats/${chatId}/context-audit`);
      const reply = events.map((event) => (event.type === "message.delta" ? event.delta : "")).join("");
      return { ...generation, audit, reply };
    },
  };
}

async function keptTenant(services, url) {
  if (!existsSync(KEPT)) return null;
  const kept = JSON.parse(readFileSync(KEPT, "utf8"));
  if (kept.database !== fingerprint(services.databaseUrl)) return null;
  const answer = await fetch(`${url}/api/v2/characters/${kept.characterId}`, { headers: authorization(kept.apiKey) });
  return answer.ok ? kept : null;
}

async function makeTenant(services, url) {
  const { apiKey } = await provision(services);
  const api = client(url, apiKey);
  const card = await api.upload("character.card.json", {});
  const { characterId } = card.created;
  await api.upload("lorebook.world.json", { characterId });
  const persona = await api.json("POST", "/api/v2/personas", readDemo("persona.json"));
  for (const { content, pinned = false } of readDemo("memories.json")) {
    await api.json("POST", "/api/v2/memories", { characterId, content, pinned });
  }
  const tenant = { database: fingerprint(services.databaseUrl), apiKey, characterId, personaId: persona.id };
  writeFileSync(KEPT, `${JSON.stringify(tenant, null, 2)}\n`, { mode: 0o600 });
  return tenant;
}

async function provision(services) {
  const program = join(ROOT, "services", "api", "dist", "provision.js");
  const flags = ["--tenant", "demo", "--key-environment", "demo", "--provider-kind", "echo", "--model", "echo"];
  const window = ["--context-limit", String(WINDOW_TOKENS)];
  const { code, output } = await capture(process.execPath, [program, ...flags, ...window], {
    env: serviceEnvironment(services),
  });
  if (code !== 0) throw new Error(`the demo tenant could not be made: ${output}`);
  return JSON.parse(output);
}

async function importChat(api, tenant) {
  const { characterId, personaId } = tenant;
  const imported = await api.upload("chat.jsonl", { characterId, personaId, title: "Demo" });
  return imported.created.chatId;
}

function client(url, apiKey) {
  const call = async (method, path, init) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      ...init,
      headers: { ...authorization(apiKey), ...init.headers },
    });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`);
    return answer;
  };
  const json = (body) =>
    body === undefined
      ? { headers: {} }
      : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  return {
    json: async (method, path, body) => (await call(method, path, json(body))).json(),
    /** All events of a stream, once it has ended. */
    async stream(method, path, body) {
      const init = json(body);
      const answer = await call(method, path, { ...init, headers: { ...init.headers, accept: "text/event-stream" } });
      const text = await answer.text();
      return text.match(/^data: .*$/gm).map((line) => JSON.parse(line.slice("data: ".length)));
    },
    async upload(file, fields) {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.set(name, value);
      form.set("file", new Blob([readFileSync(join(DEMO, file))]), file);
      return (await call("POST", "/api/v2/imports", { body: form, headers: {} })).json();
    },
  };
}

function readDemo(file) {
  return JSON.parse(readFileSync(join(DEMO, file), "utf8"));
}

function authorization(apiKey) {
  return { authorization: `Bearer ${apiKey}` };
}

/** Which database a kept tenant belongs to, without its password. The port of private servers changes, the folder does not. */
function fingerprint(databaseUrl) {
  const external = process.env.DATABASE_URL ? new URL(databaseUrl) : null;
  return createHash("sha256")
    .update(external === null ? "embedded" : `${external.host}${external.pathname}`)
    .digest("hex");
}
