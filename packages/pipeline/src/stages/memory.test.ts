import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Block } from "../block.ts";
import type { Memory } from "../conversation.ts";
import type { RecallVectors } from "../memory/vectors.ts";
import { DEFAULT_MEMORY_SETTINGS, type MemorySettings } from "../settings.ts";
import { aBlock, aConversation, theSettings } from "../testing/conversation.ts";
import { memory } from "./memory.ts";

const aMemory = (id: string, content: string, part: Partial<Memory> = {}): Memory => ({
  id,
  content,
  pinned: false,
  sourceMessageId: null,
  createdAt: "2026-01-01T00:00:00Z",
  ...part,
});
const vectorsOf = (entries: Record<string, readonly number[]>, floor = 0.2): RecallVectors => ({
  provider: "test-2",
  floor,
  vectors: new Map(Object.entries(entries).map(([text, vector]) => [text, Float32Array.from(vector)])),
});
const said = (role: Block["role"], content: string) => aBlock(`msg:${role}`, { role, content });

interface Options {
  readonly memory?: Partial<MemorySettings>;
  readonly budgetTokens?: number;
  readonly promptMessageIds?: readonly string[];
  readonly recall?: RecallVectors;
}

function run(memories: readonly Memory[], recent: readonly Block[], options: Options = {}) {
  return memory({
    conversation: aConversation([], { memories }),
    settings: theSettings({ memory: { ...DEFAULT_MEMORY_SETTINGS, ...options.memory } }),
    recent,
    promptMessageIds: new Set(options.promptMessageIds),
    recall: options.recall,
    budgetTokens: options.budgetTokens ?? 8_000,
    countText: (text) => text.split(/\s+/).length,
  });
}

const included = (result: ReturnType<typeof run>) => result.blocks.map(({ refId }) => refId);
const left = (result: ReturnType<typeof run>) =>
  Object.fromEntries(result.leftOut.map(({ block, reason }) => [block.id, reason]));

describe("memory stage", () => {
  it("recalls what the last words are about, with score and rank", () => {
    const memories = [aMemory("a", "Max forged a silver sword."), aMemory("b", "The bakery opens at dawn.")];
    const result = run(memories, [said("user", "Where is my sword?")]);
    expect(result.blocks).toMatchObject([
      {
        id: "mem:a",
        source: "memory",
        role: "system",
        relevance: 1,
        reason: "memory_relevant",
        reasonDetail: { score: 1, rank: 1, words: { score: 1, rank: 1 }, meaning: { rank: 1 } },
      },
    ]);
    expect(result.leftOut).toMatchObject([
      {
        block: { id: "mem:b" },
        reason: "memory_below_threshold",
        reasonDetail: { score: 0, rank: 2, words: null, meaning: null, minimumScore: 0.2 },
      },
    ]);
  });

  it("asks with the last words of both sides, not with older ones", () => {
    const memories = [aMemory("old", "harbour"), aMemory("reply", "lantern"), aMemory("input", "bread")];
    const recent = [said("user", "harbour"), said("assistant", "the lantern"), said("user", "some bread")];
    expect(new Set(included(run(memories, recent)))).toEqual(new Set(["input", "reply"]));
  });

  it.each([
    ["swords hung there", "a sword"],
    ["the lighthouse", "lighthose keeper"],
    ["他在北京学习魔法", "魔法是什么"],
    ["ДРАКОН спит", "дракон"],
    ["Café Zürich", "café zu\u0308rich"],
  ])("finds %j for %j", (content, asked) => {
    expect(included(run([aMemory("a", content), aMemory("b", "unrelated")], [said("user", asked)]))).toEqual(["a"]);
  });

  it("takes common words alone for no match, even without a threshold", () => {
    const memories = [aMemory("a", "What was it with you and me there?"), aMemory("b", "unrelated")];
    const result = run(memories, [said("user", "what was that with the")], { memory: { minimumScore: 0 } });
    expect(left(result)).toEqual({ "mem:a": "memory_below_threshold", "mem:b": "memory_below_threshold" });
    expect(included(run(memories, [said("user", "unrelated")], { memory: { minimumScore: 0 } }))).toEqual(["b"]);
  });

  it("keeps pinned memories whatever their score, count and cost, and charges them first", () => {
    const memories = [
      aMemory("pin", "p ".repeat(50).trim(), { pinned: true, sourceMessageId: "m1" }),
      aMemory("sword", "a sword"),
    ];
    const result = run(memories, [said("user", "sword")], { budgetTokens: 300, promptMessageIds: ["m1"] });
    expect(result.capTokens).toBe(45);
    expect(result.blocks).toMatchObject([{ refId: "pin", pinned: true, reason: "memory_pinned" }]);
    expect(result.leftOut[0]).toMatchObject({
      reason: "memory_budget_exceeded",
      tokens: 2,
      reasonDetail: { capTokens: 45, usedTokens: 50, needTokens: 2 },
    });
  });

  it("leaves out what says the same, what is in the prompt already, and what is blank", () => {
    const memories = [
      aMemory("new", "A silver sword!", { createdAt: "2026-02-01T00:00:00Z" }),
      aMemory("old", "a  silver SWORD"),
      aMemory("new", "another sword", { createdAt: "2025-02-01T00:00:00Z" }),
      aMemory("said", "sword in the stone", { sourceMessageId: "m7" }),
      aMemory("blank", " \n"),
    ];
    const result = run(memories, [said("user", "sword")], { promptMessageIds: ["m7"], memory: { minimumScore: 0 } });
    expect(included(result)).toEqual(["new"]);
    expect(left(result)).toEqual({
      "mem:old": "memory_duplicate",
      "mem:new#2": "memory_duplicate",
      "mem:said": "memory_source_in_prompt",
      "mem:blank": "empty",
    });
  });

  it("stops at the count it may take, the least relevant leaving first", () => {
    const memories = [
      aMemory("a", "sword sword shield"),
      aMemory("b", "sword"),
      aMemory("c", "sword and a very long tale of other things entirely"),
    ];
    const result = run(memories, [said("user", "sword")], { memory: { topK: 2, minimumScore: 0 } });
    expect(left(result)).toEqual({ "mem:c": "memory_top_k" });
  });

  it("gives way by relevance when the budget is short, and passes over one that could never fit", () => {
    const memories = [
      aMemory("huge", `sword shield ${"sword ".repeat(40)}`),
      aMemory("first", "sword shield"),
      aMemory("second", "sword and shield, ten words about nothing else at all"),
      aMemory("third", "sword, alas"),
    ];
    const result = run(memories, [said("user", "sword shield")], { budgetTokens: 70, memory: { minimumScore: 0 } });
    expect(result.capTokens).toBe(11);
    expect(included(result)).toEqual(["first"]);
    expect(left(result)).toEqual({
      "mem:huge": "memory_budget_exceeded",
      "mem:second": "memory_budget_exceeded",
      "mem:third": "memory_budget_exceeded",
    });
  });

  it("breaks ties by recency, then by id, and writes the oldest first", () => {
    const at = (createdAt: string) => ({ createdAt });
    const memories = [
      aMemory("b", "sword one", at("2026-01-02T00:00:00Z")),
      aMemory("a", "sword two", at("2026-01-02T00:00:00Z")),
      aMemory("c", "sword three", at("2026-01-03T00:00:00Z")),
      aMemory("0", "sword four", at("2026-01-01T00:00:00Z")),
    ];
    const result = run(memories, [said("user", "sword")], { memory: { topK: 3 } });
    expect(included(result)).toEqual(["a", "b", "c"]);
    expect(left(result)).toEqual({ "mem:0": "memory_top_k" });
  });

  it("recalls by meaning what shares no word with the question, and says how close it is", () => {
    const memories = [aMemory("walnuts", "Walnuts make him ill."), aMemory("ship", "A ship left.")];
    const recall = vectorsOf({ "Any allergy?": [1, 0], "Walnuts make him ill.": [0.8, 0.6], "A ship left.": [0, 1] });
    const result = run(memories, [said("user", "Any  allergy?")], { recall });
    expect(result.blocks).toMatchObject([
      { refId: "walnuts", reasonDetail: { score: 1, rank: 1, words: null, meaning: { score: 0.8, rank: 1 } } },
    ]);
    expect(left(result)).toEqual({ "mem:ship": "memory_below_threshold" });
    expect(result.diagnostics).toEqual([]);
  });

  it("goes by words alone while vectors are missing, and says which", () => {
    const memories = [aMemory("sword", "a sword"), aMemory("blade", "the blade")];
    const asked = [said("user", "sword")];
    const withoutQuestion = run(memories, asked, { recall: vectorsOf({ "a sword": [1, 0], "the blade": [1, 0] }) });
    expect(included(withoutQuestion)).toEqual(["sword"]);
    expect(withoutQuestion.diagnostics).toEqual([
      { code: "vectors_missing", stage: "memory", detail: { provider: "test-2", question: 1, candidates: 0 } },
    ]);
    const withoutOne = run(memories, asked, { recall: vectorsOf({ sword: [1, 0], "the blade": [1, 0] }) });
    expect(new Set(included(withoutOne))).toEqual(new Set(["sword", "blade"]));
    expect(withoutOne.diagnostics).toMatchObject([{ detail: { question: 0, candidates: 1 } }]);
    expect(run([], asked, { recall: vectorsOf({}) }).diagnostics).toEqual([]);
  });

  it("recalls nothing but pinned ones when nothing was said", () => {
    const memories = [aMemory("a", "sword"), aMemory("pin", "shield", { pinned: true })];
    expect(included(run(memories, []))).toEqual(["pin"]);
  });
});

describe("memory stage, for any memories", () => {
  const text = fc
    .array(fc.constantFrom("sword", "shield", "dragon", "castle", "the", "龙王", "🐉"), { maxLength: 5 })
    .map((words) => words.join(" "));
  const anyMemory = fc.record({
    id: fc.constantFrom("a", "b", "c", "d", "e"),
    content: text,
    pinned: fc.boolean(),
    day: fc.integer({ min: 1, max: 9 }),
  });

  it("gives one verdict per memory, the same every time, within count and budget, and changes nothing", () => {
    fc.assert(
      fc.property(
        fc.array(anyMemory, { maxLength: 10 }),
        text,
        fc.nat(100),
        fc.nat(5),
        (parts, asked, budgetTokens, topK) => {
          const memories = parts.map(({ id, content, pinned, day }) =>
            aMemory(id, content, { pinned, createdAt: `2026-01-0${day}T00:00:00Z` }),
          );
          const before = JSON.stringify(memories);
          const options = { budgetTokens, memory: { topK } };
          const result = run(memories, [said("user", asked)], options);
          const ids = [...result.blocks.map(({ id }) => id), ...result.leftOut.map(({ block }) => block.id)];
          expect(ids.length).toBe(memories.length);
          expect(new Set(ids).size).toBe(ids.length);
          expect(run(structuredClone(memories), [said("user", asked)], options)).toEqual(result);
          expect(JSON.stringify(memories)).toBe(before);
          const optional = result.blocks.filter(({ pinned }) => !pinned);
          const spent = optional.reduce((sum, { content }) => sum + content.split(/\s+/).length, 0);
          expect(spent).toBeLessThanOrEqual(result.capTokens);
          expect(optional.length).toBeLessThanOrEqual(topK);
        },
      ),
      { seed: 7 },
    );
  });
});
