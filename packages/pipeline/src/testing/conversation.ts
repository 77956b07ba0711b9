import type { AssemblyInput } from "../assembly.ts";
import type { Block, CountedBlock, ToolCall } from "../block.ts";
import type { Character, ChatMessage, Conversation, LoreEntry, Lorebook } from "../conversation.ts";
import type { AssemblyReport, ChatRequest, ProviderRequest } from "../prompt.ts";
import { DEFAULT_LOREBOOK_SETTINGS, DEFAULT_MEMORY_SETTINGS, type AssemblySettings } from "../settings.ts";
import { isChatRequest } from "../wire/chat-request.ts";
import type { Wire } from "../wire/wire.ts";
import { wireFor } from "../wire/wires.ts";

/** A message of the branch; its id follows the sequence number. */
export function aMessage(seq: number, part: Partial<ChatMessage> = {}): ChatMessage {
  return {
    id: `m${seq}`,
    seq,
    role: seq % 2 === 1 ? "user" : "assistant",
    content: `Message number ${seq}.`,
    name: null,
    toolCalls: [],
    toolCallId: null,
    pinned: false,
    hidden: false,
    optional: false,
    failedPartial: false,
    ...part,
  };
}

export function aCall(id: string, args = "{}"): ToolCall {
  return { id, name: "lookup", arguments: args };
}

/** An assistant message that calls a tool once per id. */
export function calling(seq: number, ids: readonly string[], part: Partial<ChatMessage> = {}): ChatMessage {
  return aMessage(seq, { role: "assistant", content: "", toolCalls: ids.map((id) => aCall(id)), ...part });
}

/** The result of a call. */
export function answering(seq: number, toolCallId: string | null, part: Partial<ChatMessage> = {}): ChatMessage {
  return aMessage(seq, { role: "tool", content: `Result ${seq}.`, toolCallId, ...part });
}

export function aConversation(messages: readonly ChatMessage[], part: Partial<Conversation> = {}): Conversation {
  return { chatId: "chat_1", character: null, persona: null, lorebooks: [], memories: [], messages, ...part };
}

export function aCharacter(part: Partial<Character> = {}): Character {
  return {
    id: "char_1",
    name: "Mira",
    nickname: "",
    description: "Mira keeps the lighthouse.",
    personality: "calm",
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
    ...part,
  };
}

export function aLoreEntry(id: string, part: Partial<LoreEntry> = {}): LoreEntry {
  return {
    id,
    uid: 0,
    title: id,
    keys: [],
    secondaryKeys: [],
    selective: false,
    selectiveLogic: "and_any",
    content: `Lore of ${id}.`,
    constant: true,
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
    ...part,
  };
}

export function aLorebook(entries: readonly LoreEntry[]): Lorebook {
  const facts = { id: "book_1", name: "Book", binding: "chat", scanDepth: null, budgetTokens: null } as const;
  return { ...facts, wordBoundaries: "unicode", entries };
}

export function theSettings(part: Partial<AssemblySettings> = {}): AssemblySettings {
  return {
    action: "reply",
    model: "gpt-4o",
    modelFacts: { contextLimit: 128_000, maxOutputTokens: 16_384 },
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
    ...part,
  };
}

/** A clock that advances one millisecond a reading. */
function aClock(): AssemblyInput["clock"] {
  let reading = 0;
  return { now: () => (reading += 1) };
}

export function anInput(conversation: Conversation, settings: Partial<AssemblySettings> = {}): AssemblyInput {
  return { conversation, settings: theSettings(settings), interceptors: [], clock: aClock() };
}

/** A block as `select` would make it from a user's message. */
export function aBlock(id: string, part: Partial<CountedBlock> = {}): CountedBlock {
  const block: Block = {
    id,
    source: "history",
    role: "user",
    content: `Text of ${id}.`,
    name: null,
    toolCalls: [],
    toolCallId: null,
    pinned: false,
    required: false,
    relevance: null,
    refId: null,
    label: id,
    seq: null,
    groupId: null,
    stage: "select",
    reason: "history",
    reasonDetail: null,
  };
  return { ...block, tokens: 10, ...part };
}

/** A report whose request is known to be one of chat completions. Throws when it is not. */
export function chatReport(report: AssemblyReport): AssemblyReport & { readonly request: ChatRequest | null } {
  return { ...report, request: report.request === null ? null : chatOf(report.request) };
}

/** A request that is known to be one of chat completions. Throws when it is not. */
export function chatOf(request: ProviderRequest): ChatRequest {
  if (!isChatRequest(request)) throw new Error("the request is one of text completions");
  return request;
}

/** The wire that settings ask for, in a conversation of Max with Mira. */
export function theWire(settings: Partial<AssemblySettings> = {}): Wire {
  return wireFor({ settings: theSettings(settings), speakers: { user: "Max", char: "Mira" } });
}
