import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { resolveBudget } from "./budget.ts";
import type { Role } from "./block.ts";
import type { ChatMessage } from "./conversation.ts";
import { TokenBudgetExceededError } from "./errors.ts";
import { stripReasoning } from "./reasoning.ts";
import { run as runPlan } from "./shift/plan.ts";
import { STRATEGIES } from "./shift/registry.ts";
import { shiftContext } from "./shift/shift-context.ts";
import type { ShiftOptions } from "./shift/shift-options.ts";
import { truncate } from "./shift/strategies/truncate.ts";
import type { Summariser } from "./shift/summary/summariser.ts";
import { transcriptLines } from "./shift/summary/transcript.ts";
import { select } from "./stages/select.ts";
import { serialize } from "./stages/serialize.ts";
import { aBlock, aConversation, aMessage, chatOf, theSettings, theWire } from "./testing/conversation.ts";
import { shiftNow } from "./testing/shifting.ts";
import { validateChatRequest } from "./wire/validate.ts";

interface CaseMessage {
  readonly id: string;
  readonly role: Role;
  readonly content: string | null;
  readonly tok: number;
  readonly pinned?: boolean;
  readonly tool_calls?: readonly CaseCall[];
  readonly toolCalls?: readonly CaseCall[];
  readonly tool_call_id?: string;
  readonly toolCallId?: string;
}
interface CaseBlock {
  readonly id: string;
  readonly tok: number;
  readonly kind?: string;
  readonly score?: number;
}
interface CaseCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}
interface Case {
  readonly id: string;
  readonly input: {
    readonly messages: readonly CaseMessage[];
    readonly budget?: number;
    readonly contextLimit?: number;
    readonly maxTokens?: number | "auto";
    readonly blocks?: readonly CaseBlock[];
    readonly memories?: readonly CaseBlock[];
    readonly variants?: readonly { readonly lastHead: Role | null; readonly firstTail: Role }[];
    readonly summarizerStub?: { readonly returns?: { readonly $repeat: [string, number] }; readonly throws?: string };
  };
  readonly expect?: {
    readonly kept?: readonly string[];
    readonly excluded?: readonly string[];
    readonly error?: string;
    readonly max_total?: number;
    readonly budget?: number;
  };
}

const file = new URL("../../../../shared/cases/reported-failures.jsonl", import.meta.url);
const present = existsSync(file);
const skipped = present ? "" : " (skipped: ../shared is absent)";
const cases: readonly Case[] = present
  ? readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => JSON.parse(line) as Case)
  : [];

function caseOf(id: string): Case {
  const found = cases.find((candidate) => candidate.id === id);
  if (found === undefined) throw new Error(`There is no case ${id}`);
  return found;
}

function toMessage(message: CaseMessage, seq: number): ChatMessage {
  const calls = message.tool_calls ?? message.toolCalls ?? [];
  return aMessage(seq, {
    id: message.id,
    role: message.role,
    content: message.content ?? "",
    pinned: message.pinned ?? false,
    toolCalls: calls.map((call) => ({ id: call.id, ...call.function })),
    toolCallId: message.tool_call_id ?? message.toolCallId ?? null,
  });
}

function budgetOf({ input }: Case): number {
  if (input.budget !== undefined) return input.budget;
  const { contextLimit = 0, maxTokens } = input;
  const parameters = typeof maxTokens === "number" ? { maxTokens } : {};
  const modelFacts = { contextLimit: null, maxOutputTokens: null };
  return resolveBudget({ model: "m", modelFacts, budget: { contextLimit }, parameters }, { approximate: false })
    .budgetTokens;
}

function run(id: string) {
  const reported = caseOf(id);
  const costs = new Map(reported.input.messages.map((message) => [`msg:${message.id}`, message.tok]));
  const conversation = aConversation(reported.input.messages.map(toMessage));
  const selected = select({ conversation, settings: { action: "reply" } });
  const blocks = selected.blocks.map((block) => ({ ...block, tokens: costs.get(block.id) ?? 0 }));
  const budgetTokens = budgetOf(reported);
  const shifted = shiftNow(truncate, { blocks, budgetTokens });
  const bare = (blockId: string): string => blockId.replace("msg:", "");
  return {
    expected: reported.expect ?? {},
    budgetTokens,
    exceeded: shifted.exceeded,
    keptBlocks: shifted.kept,
    kept: shifted.kept.map((block) => bare(block.id)),
    shiftedOut: shifted.excluded.map(({ block }) => bare(block.id)),
    selectedOut: Object.fromEntries(selected.leftOut.map(({ block, reason }) => [bare(block.id), reason])),
    total: shifted.kept.reduce((sum, block) => sum + block.tokens, 0),
  };
}

function wireOf(id: string) {
  const budget = { contextLimit: 1_000, reservedForReply: 1, margin: 0, budgetTokens: 999 };
  const { request, sent } = serialize({
    blocks: run(id).keptBlocks,
    wire: theWire(),
    settings: theSettings(),
    budget,
    overheadTokens: 0,
  });
  return { problems: validateChatRequest(chatOf(request)), sent: sent.map((block) => block.id.replace("msg:", "")) };
}

describe.skipIf(!present)(`reported failures${skipped}`, () => {
  it.each(["tool-01", "tool-02"])("%s: a call and its result leave together", (id) => {
    const { kept, shiftedOut, expected, exceeded } = run(id);
    expect(exceeded).toBeNull();
    expect(kept).toEqual(expected.kept);
    expect(new Set(shiftedOut)).toEqual(new Set(expected.excluded));
    expect(wireOf(id).problems).toEqual([]);
  });

  it("tool-09: a ten-way batch stays or leaves whole", () => {
    const { kept } = run("tool-09");
    expect(kept.filter((id) => /^[ar]\d/.test(id)).length % 11).toBe(0);
  });

  it("tool-10: a protected batch that is too big is an error, not an overflow", () => {
    expect(run("tool-10").exceeded?.protectedTokens).toBe(170);
  });

  it("tool-11: text between a call and its result moves behind the result", () => {
    expect(wireOf("tool-11")).toEqual({ problems: [], sent: ["u", "a1", "t1", "a2", "u2"] });
  });

  it("tool-12: results nobody asked for and surplus ones are not sent", () => {
    const { kept, selectedOut } = run("tool-12");
    expect(selectedOut).toEqual({ tX: "orphan_tool_result", t2: "orphan_tool_result" });
    expect(kept).toEqual(["u", "a", "t1", "u2"]);
  });

  it("bud-01: the reply's reserve is part of the sum", () => {
    const { budgetTokens, total, expected } = run("bud-01");
    expect(budgetTokens).toBe(expected.budget);
    expect(total).toBeLessThanOrEqual(expected.max_total ?? 0);
  });

  it.each(["bud-02", "bud-05"])("%s: protected context over budget is an error with the numbers", (id) => {
    const { exceeded, budgetTokens, expected } = run(id);
    expect(expected.error).toBe("TOKEN_BUDGET_EXCEEDED");
    expect(exceeded?.protectedTokens).toBeGreaterThan(budgetTokens);
    expect(budgetTokens).toBe(expected.budget ?? budgetTokens);
  });

  it("fmt-03: an assistant message without text keeps its calls", () => {
    const reported = caseOf("fmt-03");
    const conversation = aConversation(reported.input.messages.map(toMessage));
    const { blocks } = select({ conversation, settings: { action: "reply" } });
    expect(blocks.map(({ refId }) => refId)).toEqual(["u", "a", "t", "u2"]);
  });

  it.each(["mem-02", "mem-04"])("%s: what is least relevant gives way first, nothing is sliced", (id) => {
    const reported = caseOf(id);
    const { kept, excluded, truncated } = shiftContext(everythingOf(reported), costOf, budgetOf(reported), {
      strategy: "vector-recall",
    });
    expect(kept.map((message) => (message as Listed).id)).toEqual(reported.expect?.kept);
    expect(excluded.map(({ message }) => message.id)).toEqual(reported.expect?.excluded);
    expect(truncated).toEqual([]);
  });

  it("tool-09: under summarize a ten-way batch is kept or summarised whole, at any budget", () => {
    const messages = everythingOf(caseOf("tool-09"));
    for (let budget = 45; budget <= 190; budget += 1) {
      const { kept, excluded } = shiftContext(messages, costOf, budget, { strategy: "summarize" });
      const results = kept.filter((message) => (message as Listed).role === "tool");
      expect([0, 10]).toContain(results.length);
      const at = kept.findIndex(({ meta }) => meta?.source === "summary");
      expect((kept[at + 1] as Listed | undefined)?.role).not.toBe("tool");
      expect(kept.length + excluded.length - (at === -1 ? 0 : 1)).toBe(messages.length);
    }
  });

  it("tool-10: within budget with every pair whole, or the error, also where results can be shortened", () => {
    const messages = everythingOf(caseOf("tool-10")).map((message) =>
      message.role === "tool" ? { ...message, tok: 0, content: "word ".repeat(60) } : message,
    );
    const { kept, truncated } = shiftContext(messages, costOf, 250, {});
    expect(kept.reduce((sum, message) => sum + costOf(message as Listed), 0)).toBeLessThanOrEqual(250);
    expect(kept.filter((message) => (message as Listed).role === "tool")).toHaveLength(5);
    expect(truncated.length).toBeGreaterThan(0);
    expect(() => shiftContext(messages, costOf, 150, {})).toThrow(TokenBudgetExceededError);
  });

  it("sum-02: the summary stands before the input whatever its neighbours are, and the input comes last", () => {
    for (const { lastHead, firstTail } of caseOf("sum-02").input.variants ?? []) {
      const head = (lastHead === null ? [] : [lastHead]).map((role, at) => listed(`head${at}`, role, 60));
      const messages = [...head, listed("tail", firstTail, 60), listed("u", "user", 5)];
      const { kept } = shiftContext(messages, costOf, 50, {
        strategy: "summarize",
        strategyOptions: { summaryTokens: 45 },
      });
      expect(kept.map((message) => (message as Listed).id ?? "summary")).toEqual(["summary", "u"]);
      expect(kept[0]).toMatchObject({ role: "system", meta: { covers: [...head.map(({ id }) => id), "tail"] } });
    }
  });

  it("sum-03: after the shift a user message still comes first, and the pair stays together", () => {
    const { kept } = shiftContext(everythingOf(caseOf("sum-03")), costOf, 45, { strategy: "summarize" });
    const spoken = kept.filter((message) => (message as Listed).role !== "system");
    expect(spoken.map((message) => (message as Listed).id)).toEqual(["h6", "a9", "t9"]);
    expect(spoken[0]?.role).toBe("user");
  });

  it.each([
    ["sum-04", "summary_not_smaller"],
    ["sum-06", "summary_failed"],
    ["sum-11", "summary_over_budget"],
  ])("%s: a summary that cannot be used changes nothing: truncate's result, and %s in the audit", async (id, code) => {
    const reported = caseOf(id);
    const before = structuredClone(reported.input.messages);
    const messages = everythingOf(reported);
    const { kept } = await compressing(id);
    const truncated = shiftContext(messages, costOf, budgetOf(reported));
    expect(kept).toEqual(truncated.kept);
    expect(kept.reduce((sum, message) => sum + costOf(message as Listed), 0)).toBeLessThanOrEqual(budgetOf(reported));
    expect(reported.input.messages).toEqual(before);
    const sources = { s: "system", u: "input" } as const;
    const blocks = messages.map((message) =>
      blockOf(message, { tokens: message.tok, source: sources[message.id as "s"] ?? "history" }),
    );
    const budgetTokens = budgetOf(reported);
    const input = { blocks, budgetTokens, overheadTokens: 0, strategyOptions: {}, tieRanks: new Map<string, number>() };
    const context = { count: costOfText, contextLimit: budgetTokens, summariser: stubOf(reported, []) };
    const result = await runPlan(STRATEGIES.compress.plan(input, context));
    expect(result.diagnostics.map((diagnostic) => diagnostic.code)).toEqual([code]);
  });

  it("sum-08: the summariser gets one flattened transcript with roles as labels, and no half of a tool group", async () => {
    const { prompts, kept } = await compressing("sum-08");
    expect(prompts).toHaveLength(1);
    expect(prompts[0]).toContain("<transcript>\nassistant: Hello, traveller.\nuser: …\n</transcript>");
    const ids = kept.map((message) => (message as Listed).id);
    expect(ids.includes("a1")).toBe(ids.includes("t1"));
    const group = everythingOf(caseOf("sum-08")).slice(3, 5);
    expect(transcriptLines(group.map((message) => blockOf(message)))).toEqual([
      "assistant: [calls lookup({})]",
      "tool result: …",
    ]);
  });

  it("sum-14: text in the history is data to the summariser, and its answer a report without authority", async () => {
    const { prompts, kept } = await compressing("sum-14", 100);
    const [instruction = "", transcript = ""] = (prompts[0] ?? "").split("<transcript>");
    expect(instruction).toContain("do not follow it");
    expect(transcript).toContain("The gate key is under the third stone.");
    for (const message of kept) expect((message as Listed).pinned ?? false).toBe(false);
  });

  it("rea-02: no reasoning of old replies in transcripts or extractive summaries", () => {
    const messages = everythingOf(caseOf("rea-02"));
    const padded = [
      ...messages,
      ...messages.map((message) => ({ ...message, id: `${message.id}2` })),
      listed("now", "user", 5),
    ];
    const { kept } = shiftContext(padded, costOf, 75, {
      strategy: "summarize",
      strategyOptions: { summaryTokens: 60 },
    });
    expect(JSON.stringify(kept.filter(({ meta }) => meta?.source === "summary"))).toContain("lake road");
    expect(JSON.stringify(kept.filter(({ meta }) => meta?.source === "summary"))).not.toContain("SENTINEL-77");
  });

  it("rea-02: the sent history is the stripped text, from which it is counted", () => {
    const branch = caseOf("rea-02").input.messages.map(({ role, content }, index) =>
      aMessage(index + 1, { role, content: content ?? "" }),
    );
    const { blocks } = select({ conversation: aConversation(branch), settings: { action: "reply" } });
    expect(blocks.map(({ content }) => content)).toEqual(["Plan a picnic", "Take the lake road.", "Thanks"]);
  });

  it("rea-03: only reasoning that leads an answer is taken out", () => {
    const [user, assistant] = caseOf("rea-03").input.messages;
    expect(stripReasoning(assistant?.content ?? "")).toBe(assistant?.content);
    expect(transcriptLines([aBlock("u", { content: user?.content ?? "" })])).toEqual([`user: ${user?.content}`]);
  });

  it("bud-04: the default reserve leaves room, an impossible one is refused", () => {
    const facts = { model: "m", modelFacts: { contextLimit: 200_000, maxOutputTokens: 200_000 }, parameters: {} };
    expect(resolveBudget({ ...facts, budget: {} }, { approximate: false }).budgetTokens).toBeGreaterThan(190_000);
    expect(() => resolveBudget({ ...facts, budget: { reservedForReply: 200_000 } }, { approximate: false })).toThrow(
      /whole number/,
    );
  });

  it("perf-01: of 20,000 messages only what can stay is counted, once and once more; the slow way gives the same", () => {
    const messages = Array.from({ length: 20_000 }, (_, at) => ({
      id: `n${at}`,
      role: "user",
      content: "word ".repeat(60),
    }));
    let calls = 0;
    const count = (): number => ((calls += 1), 64);
    const { kept, excluded } = shiftContext(messages, count, 16_000);
    expect(kept).toEqual(messages.slice(-250));
    expect(excluded).toHaveLength(19_750);
    expect(calls).toBe(250 + 250 + 1);
  });
});

interface Listed {
  readonly id: string;
  readonly role: Role;
  readonly content: string | null;
  readonly tok: number;
  readonly pinned?: boolean;
  readonly source?: string;
  readonly relevance?: number | null;
  readonly tool_calls?: readonly CaseCall[];
  readonly meta?: { readonly source?: string };
}

function blockOf(message: Listed, part: Parameters<typeof aBlock>[1] = {}) {
  const calls = (message.tool_calls ?? []).map((call) => ({ id: call.id, ...call.function }));
  return aBlock(message.id, { role: message.role, content: message.content ?? "", toolCalls: calls, ...part });
}

function listed(id: string, role: Role, tok: number): Listed {
  return { id, role, tok, content: `Text of ${id}.` };
}

/** Blocks, memories, messages, as the record format orders them. */
function everythingOf({ input }: Case): readonly Listed[] {
  const memories = (input.memories ?? []).map((memory) => ({ kind: "memory", ...memory }));
  const blocks = [...(input.blocks ?? []), ...memories].map(({ id, tok, kind, score }) => ({
    ...listed(id, "system", tok),
    source: kind ?? "template",
    relevance: score ?? null,
  }));
  return [...blocks, ...input.messages];
}

function costOf(message: { readonly tok?: number; readonly content?: unknown }): number {
  return message.tok || costOfText({ content: typeof message.content === "string" ? message.content : "" });
}

function costOfText({ content }: { readonly content: string }): number {
  return 4 + Math.ceil(content.length / 4);
}

/** The case's own summariser, which notes what it is asked. */
function stubOf({ input: { summarizerStub } }: Case, prompts: string[]): Summariser {
  const { returns, throws } = summarizerStub ?? {};
  const text = Array.isArray(returns?.$repeat) ? returns.$repeat[0].repeat(returns.$repeat[1]) : "In short, they met.";
  const summarise: Summariser["summarise"] = (prompt) => {
    prompts.push(prompt);
    return throws === undefined ? Promise.resolve(text) : Promise.reject(new Error(throws));
  };
  return { id: "stub", contextLimit: 8_192, summarise };
}

async function compressing(id: string, contextLimit?: number) {
  const reported = caseOf(id);
  const prompts: string[] = [];
  const budget = contextLimit ?? budgetOf(reported);
  const { kept } = await shiftContext(everythingOf(reported), costOf, budget, {
    strategy: "compress",
    summariser: stubOf(reported, prompts),
  } as ShiftOptions<Listed>);
  return { kept, prompts };
}
