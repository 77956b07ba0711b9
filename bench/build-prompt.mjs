// A whole prompt, audit included, warm: a chat of 200 messages with a lorebook of 300 entries, of which a dozen are spoken of.
// Against tokenising the texts it sends once with the encoder that other backends call, in the same run. CPU time, medians.
import { get_encoding } from "@dqbd/tiktoken";
import { buildPrompt, isChatRequest } from "../packages/pipeline/dist/index.js";
import { aMessage, anInput } from "./support/assembly-input.mjs";
import { medianCpuMs } from "./support/median-cpu.mjs";

const MESSAGES = 200;
const ENTRIES = 300;
const SPOKEN_OF = 12;
const OFTEN = { warmUps: 200, rounds: 201 };
const TARGET_MS = 1.5;

const signal = new AbortController().signal;
const input = makeInput();
const report = await buildPrompt(input, signal);
const prompt = await medianCpuMs(() => buildPrompt(input, signal), OFTEN);
const encoder = get_encoding("o200k_base");
const texts = isChatRequest(report.request) ? report.request.messages.map(({ content }) => content ?? "") : [];
const encoding = await medianCpuMs(
  () => texts.reduce((sum, text) => sum + encoder.encode_ordinary(text).length, 0),
  OFTEN,
);
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
  const sentence = "The tide turned while they counted the posts along the causeway, and nobody spoke of the bell.";
  const messages = Array.from({ length: MESSAGES }, (_, index) =>
    aMessage(index, `${index}: ${sentence} ${mention(index)}`),
  );
  const persona = { id: "persona_1", name: "Max", description: "A surveyor who cannot swim." };
  return anInput(messages, { conversation: { character: character(), persona, lorebooks: [lorebook()] } });
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
