import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { resolveBudget } from "./budget.ts";
import type { Role } from "./block.ts";
import type { ChatMessage } from "./conversation.ts";
import { truncate } from "./shift/strategies/truncate.ts";
import { select } from "./stages/select.ts";
import { serialize } from "./stages/serialize.ts";
import { aConversation, aMessage, theSettings } from "./testing/conversation.ts";
import { shiftNow } from "./testing/shifting.ts";
import { countEncoded } from "./tokens/encoder.ts";
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
    settings: theSettings(),
    budget,
    overheadTokens: 0,
  });
  return { problems: validateChatRequest(request), sent: sent.map((block) => block.id.replace("msg:", "")) };
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

  it("tkz-01: special-token text counts as text", () => {
    const text = caseOf("tkz-01").input.messages[0]?.content;
    expect(countEncoded("o200k_base", text).tokens).toBeGreaterThan(20);
  });
});
