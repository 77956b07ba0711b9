import { describe, expect, it } from "vitest";
import { buildPrompt } from "../build-prompt.ts";
import { aConversation, aMessage, anInput, chatOf } from "../testing/conversation.ts";
import { costOf } from "../testing/histories.ts";
import { linkToolCalls } from "../wire/tool-links.ts";
import { validateChatRequest } from "../wire/validate.ts";
import { callIdOf, callsOf, type ContextMessage } from "./context-message.ts";
import { STRATEGIES } from "./registry.ts";
import { shiftContext } from "./shift-context.ts";
import type { Summariser } from "./summary/summariser.ts";

const TURNS = 200;
const BUDGET = 8_192 - 1_024;
const OVERHEAD = 3;
const summariser: Summariser = { id: "fake", contextLimit: null, summarise: async () => "The keeper counted bells." };

interface Said extends ContextMessage {
  readonly id: string;
  readonly role: string;
  readonly content: string;
}

/** About 100 tokens, different from message to message. */
function said(number: number, role: string, part: Omit<ContextMessage, "id" | "role" | "content"> = {}): Said {
  const content = Array.from({ length: 9 }, (_, at) => `On day ${number * 9 + at} the keeper counted bells.`).join(" ");
  return { id: `m${number}`, role, content, ...part };
}

/** What follows the user's message: now and then a tool call with its result, and the reply. */
function replyTo(number: number): readonly Said[] {
  const reply = said(number + 3, "assistant");
  const call = { id: `c${number}`, function: { name: "lookup", arguments: "{}" } };
  const tools = [said(number + 1, "assistant", { tool_calls: [call] }), said(number + 2, "tool", { callId: call.id })];
  return number % 5 === 0 ? [...tools, reply] : [reply];
}

/** Plays the chat; each turn knows the cut of the one before. Answers what each turn sends. */
async function play(strategy: string, lowWater: { readonly lowWater?: number }): Promise<readonly (readonly Said[])[]> {
  const branch: Said[] = [said(9_999, "system")];
  const sent: (readonly Said[])[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    branch.push(said(turn * 4, "user"));
    const anchorId =
      sent.at(-1)?.find((message) => message.role !== "system" && message.meta === undefined)?.id ?? null;
    const options = { strategy, ...lowWater, anchorId, overheadTokens: OVERHEAD, summariser, contextLimit: 8_192 };
    const { kept } = await shiftContext(branch, costOf as (message: Said) => number, BUDGET, options);
    sent.push(kept as readonly Said[]);
    branch.push(...replyTo(turn * 4));
  }
  return sent;
}

/** Turns whose messages do not begin with those the turn before sent, up to its last message of the history. */
function movedPrefixes(sent: readonly (readonly Said[])[]): number {
  return sent.filter((messages, turn) => {
    const before = sent[turn - 1] ?? [];
    const end = before.findLastIndex((message, at) => at < before.length - 1 && message.meta === undefined);
    return before.slice(0, end + 1).some((message, at) => messages[at]?.content !== message.content);
  }).length;
}

function brokenLinks(messages: readonly Said[]): number {
  const linked = messages.map((message) => ({
    role: message.role === "tool" ? ("tool" as const) : ("assistant" as const),
    toolCalls: callsOf(message),
    toolCallId: callIdOf(message),
  }));
  return linkToolCalls(linked).filter(({ broken }) => broken !== null).length;
}

describe.each(Object.keys(STRATEGIES))("200 turns at an 8k window with %s", (strategy) => {
  it("send nothing over budget and no orphan; the prefix moves nearly every turn", async () => {
    const sent = await play(strategy, {});
    for (const messages of sent) {
      expect(messages.reduce((sum, message) => sum + costOf(message), OVERHEAD)).toBeLessThanOrEqual(BUDGET);
      expect(brokenLinks(messages)).toBe(0);
      expect(messages.at(-1)?.role).toBe("user");
    }
    expect(movedPrefixes(sent)).toBeGreaterThan(TURNS / 2);
  });

  it("keep the prefix still on seven of eight turns with a low-water mark", async () => {
    const sent = await play(strategy, { lowWater: 0.7 });
    for (const messages of sent) {
      expect(messages.reduce((sum, message) => sum + costOf(message), OVERHEAD)).toBeLessThanOrEqual(BUDGET);
      expect(brokenLinks(messages)).toBe(0);
    }
    expect(movedPrefixes(sent)).toBeLessThanOrEqual(TURNS / 8);
  });
});

describe("a prompt built turn by turn", () => {
  it.each(Object.keys(STRATEGIES))(
    "is valid, within budget, and names its cut for the next turn: %s",
    async (contextStrategy) => {
      let anchorId: string | null = null;
      for (let last = 1; last <= 61; last += 10) {
        const branch = Array.from({ length: last }, (_, at) => aMessage(at + 1, { content: said(at, "user").content }));
        const budget = { contextLimit: 1_600, reservedForReply: 200 };
        const input = anInput(aConversation(branch), { contextStrategy, strategyOptions: { lowWater: 0.7 }, budget });
        const report = await buildPrompt({ ...input, anchorId, summariser }, new AbortController().signal);
        expect(report.request && validateChatRequest(chatOf(report.request))).toEqual([]);
        expect(report.budget.promptTokens).toBeLessThanOrEqual(1_400);
        expect(report.counts.included + report.counts.excluded + report.counts.summarised).toBeGreaterThan(last);
        ({ anchorId } = report);
        const oldest = report.blocks.find(({ order, source }) => order !== null && source === "history");
        expect(anchorId).toBe(oldest?.refId ?? null);
      }
    },
  );
});
