// Memory held after 1,000 assemblies of a chat of 10,000 messages, against that held after the first 100, in one process:
// what is remembered of counts is bounded, and nothing else stays.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  buildPrompt,
  DEFAULT_LOREBOOK_SETTINGS,
  DEFAULT_MEMORY_SETTINGS,
  modelFacts,
} from "../packages/pipeline/dist/index.js";

const MESSAGES = 10_000;
const ASSEMBLIES = Number(process.argv[2] ?? 1_000);
const MODELS = ["gpt-4o", "claude-3-5-haiku"];
const SENTENCE = "The tide took three lamps before dawn, and Mira counted forty-two bells while nobody answered. ";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");
const signal = new AbortController().signal;
const clock = { now: () => performance.now() };
// Read anew for each assembly, as from the database.
const stored = JSON.stringify(Array.from({ length: MESSAGES }, (_, seq) => message(seq)));

const after = {};
for (let assembly = 1; assembly <= ASSEMBLIES; assembly += 1) {
  await assemble(assembly);
  if (assembly % (ASSEMBLIES / 10) === 0) after[assembly] = heldMegabytes();
}
const held = Object.values(after);
const report = { bench: "memory", messages: MESSAGES, heldMegabytes: after, ratio: held.at(-1) / held[0] };
console.log(JSON.stringify(report, null, 2));

async function assemble(turn) {
  const said = { ...message(MESSAGES), content: `And on day ${turn}?` };
  const messages = [...JSON.parse(stored), said];
  const conversation = { chatId: "chat", character: null, persona: null, lorebooks: [], memories: [], messages };
  await buildPrompt({ conversation, settings: settingsOf(MODELS[turn % 2]), interceptors: [], clock }, signal);
}

function settingsOf(model) {
  return {
    action: "reply",
    model,
    modelFacts: modelFacts(model),
    budget: { contextLimit: 8_192, reservedForReply: 512 },
    parameters: {},
    tools: [],
    contextStrategy: "truncate",
    strategyOptions: {},
    mainPrompt: null,
    postHistoryInstructions: null,
    lorebook: DEFAULT_LOREBOOK_SETTINGS,
    memory: DEFAULT_MEMORY_SETTINGS,
    seed: "seed",
    now: "2026-01-01T00:00:00.000Z",
  };
}

function message(seq) {
  return {
    id: `m${seq}`,
    seq,
    role: seq % 2 === 0 ? "user" : "assistant",
    content: `Message ${seq}. ${SENTENCE.repeat(6)}`,
    name: null,
    toolCalls: [],
    toolCallId: null,
    pinned: false,
    hidden: false,
    optional: false,
    failedPartial: false,
  };
}

function heldMegabytes() {
  collect();
  collect();
  return Math.round(process.memoryUsage().heapUsed / 1e5) / 10;
}
