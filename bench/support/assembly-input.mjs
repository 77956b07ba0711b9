import { DEFAULT_LOREBOOK_SETTINGS, DEFAULT_MEMORY_SETTINGS, modelFacts } from "../../packages/pipeline/dist/index.js";

/** A stored message; those with even numbers are the user's. */
export function aMessage(seq, content) {
  return {
    id: `m${seq}`,
    seq,
    role: seq % 2 === 0 ? "user" : "assistant",
    content,
    name: null,
    toolCalls: [],
    toolCallId: null,
    pinned: false,
    hidden: false,
    optional: false,
    failedPartial: false,
  };
}

/** What `buildPrompt` takes: a plain chat, with what `conversation` and `settings` change of it. */
export function anInput(messages, { conversation = {}, settings = {} } = {}) {
  const model = settings.model ?? "gpt-4o";
  return {
    conversation: {
      chatId: "chat",
      character: null,
      persona: null,
      lorebooks: [],
      memories: [],
      messages,
      ...conversation,
    },
    settings: {
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
      ...settings,
    },
    interceptors: [],
    clock: { now: () => performance.now() },
  };
}
