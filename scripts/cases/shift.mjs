import { resolveBudget, shiftContext, tokenCounterFor } from "../../packages/pipeline/dist/index.js";
import { expand } from "./expand.mjs";

const MODEL = "gpt-4o";
const counter = tokenCounterFor(MODEL);

/** Runs one record with `shiftContext`; answers what differs from its `expect`, nothing when it holds. */
export async function runShiftCase({ input: written, expect }) {
  const input = expand(written);
  const messages = messagesOf(input);
  const attempted = budgetOf(input);
  const problems = [];
  if (expect.budget !== undefined && attempted.budget !== expect.budget) {
    problems.push(`budget is ${attempted.budget ?? attempted.error}, expected ${expect.budget}`);
  }
  const outcome = attempted.error === undefined ? await shift(messages, attempted.budget, input) : attempted;
  return [...problems, ...differences(outcome, expect, attempted.budget)];
}

/** Input order = blocks, memories, messages. `tok` is the whole cost; without it the o200k profile counts. */
function messagesOf({ blocks = [], memories = [], messages = [] }) {
  const asBlock =
    (source) =>
    ({ kind, score, ...block }) => ({
      ...block,
      source: block.source ?? kind ?? source,
      relevance: block.relevance ?? score ?? null,
    });
  return [...blocks.map(asBlock("template")), ...memories.map(asBlock("memory")), ...messages];
}

function costOf(message) {
  return message.tok ?? counter.countTokens(message);
}

/** `budget` ?? `contextLimit` − (`responseReserve` ?? `maxTokens`); "auto" and nothing are the library's own default. */
function budgetOf(input) {
  if (input.budget !== undefined) return { budget: input.budget };
  const { contextLimit = input.model?.contextWindow, responseReserve = input.maxTokens } = input;
  const reserved = responseReserve === "auto" || responseReserve === null ? undefined : responseReserve;
  try {
    const settings = {
      model: MODEL,
      modelFacts: { contextLimit: null, maxOutputTokens: input.model?.maxOutput ?? null },
      budget: { contextLimit, reservedForReply: reserved },
      parameters: {},
    };
    return { budget: resolveBudget(settings, { approximate: false }).budgetTokens };
  } catch (error) {
    return { error: error.code ?? error.message };
  }
}

async function shift(messages, budget, input) {
  const { strategy, strategyOptions, summarizerStub, lowWater, anchorId } = input;
  const chosen = strategy ?? (summarizerStub === undefined ? "truncate" : "compress");
  const options = { strategy: chosen, strategyOptions, contextLimit: input.contextLimit ?? budget };
  if (lowWater !== undefined) Object.assign(options, { lowWater, anchorId });
  if (summarizerStub !== undefined) options.summariser = stub(summarizerStub);
  try {
    return await Promise.resolve(shiftContext(messages, costOf, budget, options));
  } catch (error) {
    return { error: error.code ?? `${error.name}: ${error.message}` };
  }
}

function stub({ returns, throws }) {
  const summarise = async () => {
    if (throws !== undefined) throw new Error(throws);
    return returns ?? "";
  };
  return { id: "stub", contextLimit: null, summarise };
}

function differences(outcome, expect, budget) {
  if (outcome.error !== undefined) {
    const wanted = expect.error ?? expect.error_or;
    return wanted === outcome.error ? [] : [`ended with ${outcome.error}, expected ${wanted ?? "a result"}`];
  }
  if (expect.error !== undefined) return [`gave a result, expected ${expect.error}`];
  const problems = [];
  const kept = outcome.kept.map(({ id }) => id);
  const excluded = outcome.excluded.map(({ message }) => message.id);
  const total = outcome.kept.reduce((sum, message) => sum + costOf(message), 0);
  if (expect.kept !== undefined && !isSame(kept, expect.kept)) {
    problems.push(`kept ${JSON.stringify(kept)}, expected ${JSON.stringify(expect.kept)}`);
  }
  if (expect.excluded !== undefined && !isSame(excluded.toSorted(), expect.excluded.toSorted())) {
    problems.push(`excluded ${JSON.stringify(excluded)}, expected ${JSON.stringify(expect.excluded)}`);
  }
  if (expect.max_total !== undefined && total > expect.max_total) {
    problems.push(`kept ${total} tokens, expected at most ${expect.max_total}`);
  }
  if (expect.error_or !== undefined) problems.push(...unlessWhole(outcome.kept, total, budget));
  return problems;
}

function unlessWhole(kept, total, budget) {
  const problems = total > budget ? [`kept ${total} tokens of a budget of ${budget}`] : [];
  const calls = kept.flatMap((message) => (message.tool_calls ?? message.toolCalls ?? []).map(({ id }) => id));
  const results = kept
    .filter(({ role }) => role === "tool")
    .map((message) => message.tool_call_id ?? message.toolCallId ?? message.callId);
  if (!isSame(calls.toSorted(), results.toSorted())) problems.push("a call group is not whole");
  return problems;
}

function isSame(left, right) {
  return JSON.stringify(left) === JSON.stringify(right);
}
