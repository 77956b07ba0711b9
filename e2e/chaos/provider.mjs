/**
 * The provider's process. What it does with a request stands in the request: the newest message that holds
 * `chaos {"turn":…,"scenario":…,"words":…,"delayMs":…}`. Says `{ baseUrl }` once; answers any message with its counts.
 */
import { startFakeOpenAi } from "../../packages/providers/dist/testing/index.js";

/** Marks the last word, so that a reader can tell that the end is near. */
const LAST_WORD = "fin.";

const callsOfTurn = new Map();
const callsByScenario = {};
let serial = 0;

const fake = await startFakeOpenAi({ handler: ({ body }) => replyTo(orderIn(body)) });
process.send({ baseUrl: fake.baseUrl });
process.on("message", () => process.send({ callsByScenario, closedByClient: fake.closedConnections }));
process.on("disconnect", () => process.exit(0));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => undefined); // the parent says when

function orderIn(body) {
  for (const { content } of [...body.messages].reverse()) {
    const found = /chaos (\{.*?\})/.exec(content);
    if (found !== null) return JSON.parse(found[1]);
  }
  return { turn: 0, scenario: "words", words: 3, delayMs: 0 };
}

function replyTo({ turn, scenario, words, delayMs }) {
  callsByScenario[scenario] = (callsByScenario[scenario] ?? 0) + 1;
  const call = (callsOfTurn.get(turn) ?? 0) + 1;
  callsOfTurn.set(turn, call);
  // No two calls stream the same text: a reply that mixes two of them shows.
  const text = [`#${(serial += 1)} `, ...Array.from({ length: words }, (_, n) => `w${n} `), LAST_WORD];
  const wordsReply = { kind: "words", words: text, wordDelayMs: delayMs };
  const half = text.slice(0, Math.ceil(text.length / 2));
  const once = (reply) => (call === 1 ? reply : wordsReply);
  switch (scenario) {
    case "hang-before-headers":
    case "hang-before-first-token":
      return { kind: scenario };
    case "hang-mid-stream":
    case "no-end-mark":
    case "cut":
      return { kind: scenario, words: half };
    case "stream-error":
      return { kind: "stream-error", words: half, error: { code: "server_error", message: "out of order" } };
    case "empty":
      return { kind: "words", words: [] };
    case "rate-limited-once":
      return once({ kind: "error", status: 429, headers: { "retry-after": "1" } });
    case "overflow-once":
      return once({ kind: "error", status: 400, body: { error: { code: "context_length_exceeded" } } });
    case "error-once":
      return once({ kind: "error", status: 500 });
    default:
      return wordsReply;
  }
}
