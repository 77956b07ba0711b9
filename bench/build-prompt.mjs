// A whole prompt, audit included, warm: a chat of 200 messages with a lorebook of 300 entries, of which a dozen are spoken of.
// Against tokenising the texts it sends once with the encoder that other backends call, in the same run. CPU time, medians.
import { get_encoding } from "@dqbd/tiktoken";
import {
  buildPrompt,
  DEFAULT_LOREBOOK_SETTINGS,
  DEFAULT_MEMORY_SETTINGS,
  isChatRequest,
} from "../packages/pipeline/dist/index.js";

const MESSAGES = 200;
const ENTRIES = 300;
const SPOKEN_OF = 12;
const WARM_UPS = 200;
const ROUNDS = 201;
const TARGET_MS = 1.5;

const signal = new AbortController().signal;
const input = makeInput();
const report = await buildPrompt(input, signal);
const prompt = await median(() => buildPrompt(input, signal));
const encoder = get_encoding("o200k_base");
const texts = isChatRequest(report.request) ? report.request.messages.map(({ content }) => content ?? "") : [];
const encoding = await median(() => texts.reduce((sum, text) => sum + encoder.encode_ordinary(text).length, 0));
encoder.free();
const size = { messages: MESSAGES, loreEntries: ENTRIES, promptTokens: report.budget.promptTokens };
console.log(
  JSON.stringify(
    {
      bench: "build-prompt",
      ...size,
      counts: report.counts,
      buildPromptMs: prompt,
      encodeOnceMs: encoding,
      targetMs: TARGET_MS,
    },
    null,
    2,
  ),
);

function makeInput() {
  const messages = Array.from({ length: MESSAGES }, (_, index) => ({
    id: `m${index + 1}`,
    seq: index + 1,
    role: index % 2 === 0 ? "user" : "assistant",
    content: `${index}: The tide turned while they counted the posts along the causeway, and nobody spoke of the bell. ${mention(index)}`,
    name: null,
    toolCalls: [],
    toolCallId: null,
    pinned: false,
    hidden: false,
    optional: false,
    failedPartial: false,
  }));
  const conversation = {
    chatId: "chat_1",
    character: character(),
    persona: { id: "persona_1", name: "Max", description: "A surveyor who cannot swim." },
    lorebooks: [lorebook()],
    memories: [],
    messages,
  };
  return { conversation, settings: settings(), interceptors: [], clock: { now: () => performance.now() } };
}

/** The last messages, which are scanned, speak of some of the lore. */
function mention(index) {
  return index < MESSAGES - 4
    ? ""
    : Array.from({ length: SPOKEN_OF / 4 }, (_, n) => `place-${(index % 4) * 3 + n}`).join(", ");
}

function character() {
  return {
    id: "char_1",
    name: "Mira",
    nickname: "",
    description: "Mira keeps the lighthouse and the ledger of everything the sea has taken.",
    personality: "calm, exact",
    scenario: "A storm is coming.",
    firstMessage: "You made it.",
    alternateGreetings: [],
    messageExamples: "",
    systemPrompt: "",
    postHistoryInstructions: "",
    creatorNotes: "",
    tags: [],
    creator: "",
    characterVersion: "",
  };
}

function lorebook() {
  const entries = Array.from({ length: ENTRIES }, (_, index) => ({
    id: `entry_${index}`,
    uid: index,
    title: `Place ${index}`,
    keys: [`place-${index}`, `stead of ${index}`],
    secondaryKeys: [],
    selective: false,
    selectiveLogic: "and_any",
    content: `Place ${index} lies where the old road meets the water; its people keep to themselves.`,
    constant: false,
    enabled: true,
    required: null,
    order: 100,
    position: "before_character",
    depth: 4,
    role: "system",
    outletName: "",
    probability: 100,
    useProbability: false,
    scanDepth: null,
    caseSensitive: null,
    matchWholeWords: null,
    ignoreBudget: false,
    triggers: [],
    characterFilter: { exclude: false, names: [], tags: [] },
  }));
  const facts = { id: "book_1", name: "Book", binding: "chat", scanDepth: null, budgetTokens: null };
  return { ...facts, wordBoundaries: "unicode", entries };
}

function settings() {
  return {
    action: "reply",
    model: "gpt-4o",
    modelFacts: { contextLimit: 8_192, maxOutputTokens: 1_024 },
    budget: {},
    parameters: {},
    tools: [],
    contextStrategy: "truncate",
    strategyOptions: {},
    mainPrompt: null,
    postHistoryInstructions: null,
    lorebook: DEFAULT_LOREBOOK_SETTINGS,
    memory: DEFAULT_MEMORY_SETTINGS,
    seed: "seed",
    now: "2026-01-02T03:04:05Z",
  };
}

async function median(work) {
  for (let round = 0; round < WARM_UPS; round += 1) await work();
  const times = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = process.cpuUsage();
    const startedAt = performance.now();
    await work();
    const { user, system } = process.cpuUsage(before);
    times.push(Math.min((user + system) / 1_000, performance.now() - startedAt));
  }
  return Math.round(times.sort((a, b) => a - b)[ROUNDS >> 1] * 1_000) / 1_000;
}
