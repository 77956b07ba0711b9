import { describe, expect, it } from "vitest";
import type { AssemblyInput } from "./assembly.ts";
import { messagesOfBlocks } from "./audit/audit-blocks.ts";
import { buildPrompt } from "./build-prompt.ts";
import type { ChatMessage } from "./conversation.ts";
import type { AssemblySettings } from "./settings.ts";
import {
  aCharacter,
  aConversation,
  aLoreEntry,
  aLorebook,
  aMessage,
  anInput,
  answering,
  calling,
} from "./testing/conversation.ts";
import { validateChatRequest } from "./wire/validate.ts";

const build = (input: AssemblyInput) => buildPrompt(input, new AbortController().signal);
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

  it("a hostile run is counted approximately, and the report says so", async () => {
    const { diagnostics, budget } = await buildFrom([aMessage(1, { content: "a".repeat(20_000) })]);
    expect(diagnostics).toContainEqual({ code: "count_approximate", stage: "tokenize", detail: { texts: 1 } });
    expect(budget.promptTokens).toBeGreaterThan(2_000);
  });
});
