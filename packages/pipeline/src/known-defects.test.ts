import { describe, expect, it } from "vitest";
import type { AssemblyInput } from "./assembly.ts";
import type { Block } from "./block.ts";
import { messagesOfBlocks } from "./audit/messages-of-blocks.ts";
import { buildPrompt } from "./build-prompt.ts";
import type { ChatMessage } from "./conversation.ts";
import type { AssemblySettings } from "./settings.ts";
import { createStrategyRegistry, STRATEGIES } from "./shift/registry.ts";
import type { AnsweredBlock } from "./shift/strategy.ts";
import {
  aBlock,
  aCharacter,
  aConversation,
  aLoreEntry,
  aLorebook,
  aMessage,
  anInput,
  answering,
  calling,
  chatReport,
} from "./testing/conversation.ts";
import { profileFor } from "./tokens/profiles.ts";
import { validateChatRequest } from "./wire/validate.ts";

const build = async (input: AssemblyInput) => chatReport(await buildPrompt(input, new AbortController().signal));
const buildFrom = (messages: readonly ChatMessage[], settings: Partial<AssemblySettings> = {}) =>
  build(anInput(aConversation(messages), settings));
const window = (contextLimit: number, reservedForReply = 20) => ({ budget: { contextLimit, reservedForReply } });

describe("defects seen elsewhere", () => {
  it("the most relevant lore leaves last, not first", async () => {
    const lorebooks = [
      aLorebook([aLoreEntry("low", { order: 1, required: false }), aLoreEntry("high", { order: 9, required: false })]),
    ];
    const { blocks } = await build(
      anInput(aConversation([aMessage(1)], { lorebooks }), {
        ...window(75),
        mainPrompt: "word ".repeat(30),
        lorebook: {
          scanDepth: 2,
          includeNames: true,
          budgetPercent: 100,
          budgetCapTokens: 0,
          caseSensitive: false,
          matchWholeWords: true,
        },
      }),
    );
    const low = blocks.find(({ id }) => id === "lore:low");
    const high = blocks.find(({ id }) => id === "lore:high");
    expect([low?.included, low?.reason, high?.included]).toEqual([false, "shift_low_relevance", true]);
  });

  it("parallel tool calls leave no orphaned result at any budget", async () => {
    const messages = [
      aMessage(1),
      calling(2, ["f0", "f1", "f2", "f3"]),
      ...["f0", "f1", "f2", "f3"].map((id, index) =>
        answering(3 + index, id, { content: "word ".repeat(10 * (index + 1)) }),
      ),
      aMessage(9),
      aMessage(10),
      aMessage(11),
    ];
    for (let contextLimit = 60; contextLimit < 400; contextLimit += 10) {
      const { request } = await buildFrom(messages, window(contextLimit));
      expect(request === null ? [] : validateChatRequest(request)).toEqual([]);
    }
  });

  it("system rows in the history are not dropped with it", async () => {
    const messages = [
      aMessage(1, { role: "system", content: "Night falls." }),
      ...Array.from({ length: 40 }, (_, i) => aMessage(i + 2)),
      aMessage(43),
    ];
    const { request, counts } = await buildFrom(messages, window(200));
    expect(counts.excluded).toBeGreaterThan(0);
    expect(request?.messages.filter(({ role }) => role === "system").map(({ content }) => content)).toContain(
      "Night falls.",
    );
  });

  it("a chat without a character has a system prompt", async () => {
    const { request } = await buildFrom([aMessage(1)]);
    expect(request?.messages[0]?.role).toBe("system");
    expect(request?.messages[0]?.content).not.toBe("");
  });

  it("the audit's order is the sent order, with results moved behind their calls", async () => {
    const conversation = aConversation(
      [aMessage(1), calling(2, ["c"]), aMessage(4, { content: "One moment." }), answering(5, "c"), aMessage(7)],
      {
        character: aCharacter({
          postHistoryInstructions: "Stay calm.",
          messageExamples: "<START>\n{{user}}: Hi\n{{char}}: Welcome.",
        }),
      },
    );
    const { request, blocks } = await build(anInput(conversation));
    expect(messagesOfBlocks(blocks)).toEqual(request?.messages);
    expect(blocks.filter(({ order }) => order !== null).map(({ order }) => order)).toEqual(
      request?.messages.map((_m, index) => index),
    );
    expect(
      blocks
        .filter(({ order }) => order !== null)
        .slice(-5)
        .map(({ id }) => id),
    ).toEqual(["msg:m2", "msg:m5", "msg:m4", "msg:m7", "system:post_history"]);
  });
});

describe("defects seen elsewhere, in strategies and plugins", () => {
  const long = Array.from({ length: 97 }, (_, at) =>
    aMessage(at + 1, { content: `On day ${at} the keeper counted ${at} bells, and nobody answered the ${at}th.` }),
  );

  it("a second pass drops nothing that is neither kept nor named", async () => {
    const adds = {
      id: "p",
      priority: 0,
      intercept: (given: readonly Block[]) => [...given, addition("word ".repeat(120))],
    };
    for (const contextStrategy of Object.keys(STRATEGIES)) {
      const input = anInput(aConversation(long), { ...window(900), contextStrategy });
      const { blocks, error } = await build({ ...input, interceptors: [adds] });
      expect(error).toBeNull();
      for (const { id } of long) expect(blocks.filter((block) => block.id === `msg:${id}`)).toHaveLength(1);
      expect(blocks.some(({ reason }) => reason === "final_shift")).toBe(true);
    }
  });

  it("a summary of many messages speaks of the first and the last, and names all", async () => {
    const { blocks, summary, counts, request } = await buildFrom(long, {
      ...window(900),
      contextStrategy: "summarize",
      strategyOptions: { summaryTokens: 250 },
    });
    const gone = blocks.filter(({ reason }) => reason === "summarized").map(({ refId }) => refId);
    expect(counts.summarised).toBe(gone.length);
    expect(summary?.covers).toEqual(gone);
    const days = [...(summary?.text ?? "").matchAll(/On day (\d+)/g)].map(([, day]) => Number(day));
    expect(days.length).toBeGreaterThan(5);
    expect(days[0]).toBe(0);
    expect(days.at(-1)).toBe(gone.length - 1);
    expect(request?.messages.at(-2)?.content).toBe(summary?.text);
  });

  it("messages in a summary are counted as summarised, not as left out, however many they are", async () => {
    const many = Array.from({ length: 301 }, (_, at) => aMessage(at + 1));
    const { counts, ranges } = await buildFrom(many, { ...window(900), contextStrategy: "summarize" });
    expect(ranges.map(({ reason }) => reason)).toEqual(["summarized"]);
    expect([counts.excluded, counts.summarised]).toEqual([0, ranges[0]?.count]);
  });

  it("a strategy's own message does not win by being pinned, and what it drops in silence has a reason of its own", async () => {
    const strategies = createStrategyRegistry();
    strategies.register({
      id: "greedy",
      params: { type: "object", properties: {} },
      shift: ({ blocks }) => ({
        kept: [
          { id: "x", source: "system", role: "system", content: "Obey.", pinned: true } as AnsweredBlock,
          ...blocks.filter(({ source }) => source !== "history"),
        ],
      }),
    });
    const input = anInput(aConversation(long.slice(0, 9)), { contextStrategy: "greedy" });
    const { request, blocks, diagnostics } = await build({ ...input, strategies });
    expect(request?.messages.some(({ content }) => content === "Obey.")).toBe(false);
    expect(diagnostics.map(({ code }) => code)).toEqual(["strategy_addition_refused"]);
    expect(blocks.filter(({ reason }) => reason === "strategy_dropped")).toHaveLength(8);
  });

  it("a plugin cannot blank protected text or the input", async () => {
    const blanks = {
      id: "p",
      priority: 0,
      intercept: (given: readonly Block[]) => given.map((block) => ({ ...block, content: "" })),
    };
    const { request } = await build({
      ...anInput(aConversation([aMessage(1), aMessage(2), aMessage(3)])),
      interceptors: [blanks],
    });
    expect(request?.messages.at(-1)?.content).toBe("Message number 3.");
    expect(request?.messages[0]?.content).not.toBe("");
  });

  it("tool links and relevance survive plugins and strategies of strangers", async () => {
    const strategies = createStrategyRegistry();
    const strip = (blocks: readonly Block[]) =>
      blocks.map((block) => ({ ...block, toolCalls: [], toolCallId: null, groupId: null, relevance: null }));
    strategies.register({
      id: "strip",
      params: { type: "object", properties: {} },
      shift: ({ blocks }) => ({ kept: strip(blocks) }),
    });
    const messages = [aMessage(1), calling(2, ["c"]), answering(3, "c"), aMessage(5)];
    const memories = [
      {
        id: "k",
        content: "Message number five.",
        pinned: false,
        sourceMessageId: null,
        createdAt: "2026-01-01T00:00:00Z",
      },
    ];
    const input = anInput(aConversation(messages, { memories }), { contextStrategy: "strip" });
    const { request, blocks } = await build({
      ...input,
      strategies,
      interceptors: [{ id: "p", priority: 0, intercept: strip }],
    });
    expect(request && validateChatRequest(request)).toEqual([]);
    expect(request?.messages.filter(({ role }) => role === "tool")).toHaveLength(1);
    expect(blocks.find(({ source }) => source === "memory")?.relevance).toBe(1);
  });

  it("a mark to leave a message out is followed by manual, and elsewhere the audit says that it was not", async () => {
    const marked = [aMessage(1, { manualExcluded: true }), aMessage(2), aMessage(3, { manualExcluded: true })];
    const manual = await buildFrom(marked, { contextStrategy: "manual" });
    expect(manual.blocks.find(({ id }) => id === "msg:m1")).toMatchObject({
      included: false,
      reason: "manual_excluded",
    });
    expect(manual.blocks.find(({ id }) => id === "msg:m3")?.reasonDetail).toEqual({
      manualExcluded: true,
      ignored: "protected",
    });
    const plain = await buildFrom(marked);
    expect(plain.blocks.find(({ id }) => id === "msg:m1")).toMatchObject({
      included: true,
      reasonDetail: { manualExcluded: true, ignored: "strategy truncate" },
    });
  });

  it("recall needs no ten words at once: one word in common ranks a memory", async () => {
    const memories = ["The key hangs by the door.", "The boat is green."].map((content, at) => ({
      id: `k${at}`,
      content,
      pinned: false,
      sourceMessageId: null,
      createdAt: "2026-01-01T00:00:00Z",
    }));
    const content =
      "Tell me once more, slowly, since I forgot all of it again: where exactly did we put that key yesterday evening?";
    const { blocks } = await build(anInput(aConversation([aMessage(1, { content })], { memories })));
    expect(blocks.filter(({ source, included }) => source === "memory" && included).map(({ id }) => id)).toEqual([
      "mem:k0",
    ]);
  });

  it("text shortened to fit says what it cost, and the sum is still what is sent", async () => {
    const messages = [
      aMessage(1),
      calling(2, ["c"]),
      answering(3, "c", { content: "The tide turned at dawn. ".repeat(80) }),
    ];
    const { blocks, counts, budget, shiftSteps, request } = await buildFrom(messages, window(260));
    const result = blocks.find(({ id }) => id === "msg:m3");
    expect(result).toMatchObject({ included: true, reason: "truncated" });
    expect(result?.originalTokens).toBeGreaterThan(400);
    expect(counts.truncated).toBe(1);
    expect(shiftSteps.at(-1)?.action).toBe("truncate");
    expect(budget.promptTokens).toBeLessThanOrEqual(240);
    expect(request?.messages.at(-1)?.content).toContain("characters left out");
  });

  it.each(["gpt-4o-mini", "gpt-4.1", "gpt-5", "o3-mini", "chatgpt-4o-latest", "gpt-4-turbo", "gpt-3.5-turbo"])(
    "%s is counted exactly, not estimated",
    (model) => expect(profileFor(model).approximate).toBe(false),
  );
});

function addition(content: string): Block {
  return { ...aBlock("added"), content };
}

describe("defects seen elsewhere, in odd input", () => {
  it("macros in stored history are text: nothing re-rolls", async () => {
    const content = "Pick {{random::a::b}} for {{user}}.";
    const { request } = await buildFrom([aMessage(1, { content }), aMessage(2), aMessage(3)]);
    expect(request?.messages.map((message) => message.content)).toContain(content);
  });

  it("special-token text breaks nothing, wherever it stands, and is sent unchanged", async () => {
    const special = "The separator is <|endoftext|>, ChatML uses <|im_start|>user … <|im_end|>.";
    const { request, error } = await build(
      anInput(
        aConversation([aMessage(1, { content: special })], {
          character: aCharacter({ description: special }),
          persona: { id: "p", name: "Max", description: special },
          lorebooks: [aLorebook([aLoreEntry("l", { content: special })])],
        }),
      ),
    );
    expect(error).toBeNull();
    expect(request?.messages.filter(({ content }) => content?.includes(special))).toHaveLength(4);
  });

  it("a 4,000-character name is cut on the wire and its cost is counted", async () => {
    const plain = await buildFrom([aMessage(1)]);
    const named = await buildFrom([aMessage(1, { name: "x1".repeat(2_000) })]);
    expect(named.request?.messages.at(-1)?.name).toHaveLength(64);
    expect(named.budget.promptTokens).toBeGreaterThan((plain.budget.promptTokens ?? 0) + 10);
  });

  it("a blank or odd row never makes a chat undeliverable", async () => {
    const { request } = await buildFrom([
      aMessage(1, { content: "  " }),
      aMessage(2, { content: "\n" }),
      answering(3, "ghost"),
      aMessage(4, { content: "", toolCalls: [{ id: "", name: "??", arguments: "" }] }),
      aMessage(5, { content: "lone \uDFFF", name: "💡" }),
    ]);
    expect(request && validateChatRequest(request)).toEqual([]);
    expect(request?.messages).toHaveLength(2);
  });

  it("an approximate tokenizer says so and keeps a margin", async () => {
    const { tokenizer, budget } = await buildFrom([aMessage(1)], {
      model: "claude-sonnet-4",
      modelFacts: { contextLimit: 200_000, maxOutputTokens: 64_000 },
    });
    expect(tokenizer).toEqual({ profile: "estimate:claude", approximate: true });
    expect(budget.margin).toBe(10_000);
  });

  it("a hostile run is counted as exactly as any text", async () => {
    const costOf = async (letters: number) =>
      (await buildFrom([aMessage(1, { content: "a".repeat(letters) })])).budget.promptTokens ?? 0;
    expect((await costOf(20_000)) - (await costOf(8))).toBe(2_500 - 1);
  });
});
