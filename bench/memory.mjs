// Memory held after 1,000 assemblies of a chat of 10,000 messages, against that held after the first 100, in one process:
// what is remembered of counts is bounded, and nothing else stays.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { buildPrompt } from "../packages/pipeline/dist/index.js";
import { aMessage, anInput } from "./support/assembly-input.mjs";

const MESSAGES = 10_000;
const ASSEMBLIES = Number(process.argv[2] ?? 1_000);
const MODELS = ["gpt-4o", "claude-3-5-haiku"];
const SENTENCE = "The tide took three lamps before dawn, and Mira counted forty-two bells while nobody answered. ";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");
const signal = new AbortController().signal;
// Read anew for each assembly, as from the database.
const stored = JSON.stringify(
  Array.from({ length: MESSAGES }, (_, seq) => aMessage(seq, `Message ${seq}. ${SENTENCE.repeat(6)}`)),
);

const after = {};
for (let assembly = 1; assembly <= ASSEMBLIES; assembly += 1) {
  await assemble(assembly);
  if (assembly % (ASSEMBLIES / 10) === 0) after[assembly] = heldMegabytes();
}
const held = Object.values(after);
const report = { bench: "memory", messages: MESSAGES, heldMegabytes: after, ratio: held.at(-1) / held[0] };
console.log(JSON.stringify(report, null, 2));

async function assemble(turn) {
  const messages = [...JSON.parse(stored), aMessage(MESSAGES, `And on day ${turn}?`)];
  await buildPrompt(anInput(messages, { settings: { model: MODELS[turn % 2] } }), signal);
}

function heldMegabytes() {
  collect();
  collect();
  return Math.round(process.memoryUsage().heapUsed / 1e5) / 10;
}
