// Shifting 10,000 messages into 8,000 tokens with stored counts, against trimming that sums what is left after every
// removal (each count memoised), in the same run; and the growth with what is there and with what is kept.
import { shiftContext } from "../packages/pipeline/dist/index.js";
import { medianCpuMs } from "./support/median-cpu.mjs";

const MESSAGES = 10_000;
const TOKENS = 160;
const BUDGET = 8_000;
const OFTEN = { warmUps: 30, rounds: 101 };

const chat = messages(MESSAGES);
const shift = await medianCpuMs(() => shiftContext(chat, storedCount, BUDGET), OFTEN);
const baseline = await medianCpuMs(() => trimAndSum(chat, storedCount, BUDGET), { warmUps: 1, rounds: 3 });
const byBudget = await growth([8_000, 16_000, 32_000, 64_000], (budget) => [chat, budget]);
const byLength = await growth([2_500, 5_000, 10_000, 20_000], (length) => [messages(length), BUDGET]);
const report = {
  bench: "shift",
  messages: MESSAGES,
  budgetTokens: BUDGET,
  shiftMs: shift,
  memoisedRecountMs: baseline,
  ratio: Math.round(baseline / shift),
  msPerBudget: byBudget,
  msPerMessageCount: byLength,
  sameResult: isSame(shiftContext(chat, storedCount, BUDGET).kept, trimAndSum(chat, storedCount, BUDGET)),
  withToolCalls: await medianCpuMs(() => shiftContext(withTools(MESSAGES), storedCount, BUDGET), OFTEN),
};
console.log(JSON.stringify(report, null, 2));

function messages(length) {
  const history = Array.from({ length }, (_, index) => ({
    id: `m${index}`,
    role: index % 2 === 0 ? "user" : "assistant",
    content: `Message ${index}.`,
    tokens: TOKENS,
  }));
  return [{ id: "system", role: "system", content: "Be brief.", tokens: 100 }, ...history];
}

function withTools(length) {
  withTools.made ??= messages(length).map((message, index) => {
    if (index % 10 === 4)
      return {
        ...message,
        role: "assistant",
        tool_calls: [{ id: `c${index}`, function: { name: "f", arguments: "{}" } }],
      };
    return index % 10 === 5 ? { ...message, role: "tool", tool_call_id: `c${index - 1}` } : message;
  });
  return withTools.made;
}

function storedCount(message) {
  return message.tokens;
}

/** Removes the oldest and counts everything that is left again, each message's count remembered. */
function trimAndSum(history, count, budget) {
  const known = new Map();
  const cost = (message) => {
    if (!known.has(message.id)) known.set(message.id, count(message));
    return known.get(message.id);
  };
  let kept = [...history];
  while (kept.reduce((sum, message) => sum + cost(message), 0) > budget) {
    const oldest = kept.findIndex(({ role }) => role !== "system");
    kept = kept.filter((_message, index) => index !== oldest);
  }
  return kept;
}

async function growth(sizes, inputs) {
  const bySize = {};
  for (const size of sizes) {
    const [history, budget] = inputs(size);
    bySize[size] = await medianCpuMs(() => shiftContext(history, storedCount, budget), OFTEN);
  }
  return bySize;
}

function isSame(left, right) {
  return left.length === right.length && left.every((message, index) => message === right[index]);
}
