import { describe, expect, it } from "vitest";
import type { CountedBlock } from "../../block.ts";
import { aBlock, aCall } from "../../testing/conversation.ts";
import { shiftNow } from "../../testing/shifting.ts";
import { summarize } from "./summarize.ts";

const count = (block: { readonly content: string }): number => 4 + Math.ceil(block.content.length / 4);
const said = (id: string, content: string, part: Partial<CountedBlock> = {}): CountedBlock =>
  aBlock(id, { content, tokens: count({ content }), ...part });
const long = (topic: string): string => `${"Well, so it goes on and on. ".repeat(6)}The ${topic} is under stone 3.`;
const input = said("input", "Where is the key?", { source: "input" });
const topics = ["key", "map", "lamp", "rope", "bell", "boat"];
const history = topics.map((topic, index) =>
  said(`h${index}`, long(topic), { role: index % 2 ? "assistant" : "user" }),
);
const total = (blocks: readonly CountedBlock[]) => blocks.reduce((sum, { tokens }) => sum + tokens, 0);

describe("summarize", () => {
  it("puts one telling sentence of each message that left before the input, and names them all", () => {
    const { kept, excluded, summary, steps } = shiftNow(summarize, {
      blocks: [...history, input],
      budgetTokens: 200,
      strategyOptions: { summaryTokens: 120 },
    });
    expect(kept.map(({ source }) => source)).toEqual(["history", "summary", "input"]);
    expect(excluded.map(({ block, reason }) => [block.id, reason])).toEqual(
      ["h0", "h1", "h2", "h3", "h4"].map((id) => [id, "summarized"]),
    );
    const text = kept[1]?.content ?? "";
    for (const topic of topics.slice(0, 5)) expect(text).toContain(`"The ${topic} is under stone 3."`);
    expect(summary?.covers).toEqual(["h0", "h1", "h2", "h3", "h4"]);
    expect(kept[1]?.reasonDetail).toEqual({ covers: summary?.covers });
    expect(steps.at(-1)).toMatchObject({ action: "summarize", blockIds: summary?.covers, tokensAfter: total(kept) });
  });

  it("speaks of 96 messages at even distance when not all fit, and names all 96", () => {
    const many = Array.from({ length: 101 }, (_, index) => said(`m${index}`, long(`thing ${index}`)));
    const { kept, summary } = shiftNow(summarize, {
      blocks: [...many, input],
      budgetTokens: 4 * total(many.slice(0, 1)) + 250,
      strategyOptions: { summaryTokens: 220 },
    });
    const numbers = [...(kept.find(({ source }) => source === "summary")?.content ?? "").matchAll(/thing (\d+)/g)];
    expect(summary?.covers.length).toBeGreaterThanOrEqual(96);
    expect(Number(numbers[0]?.[1])).toBe(0);
    expect(Number(numbers.at(-1)?.[1])).toBeGreaterThanOrEqual(95);
  });

  it("costs at most a tenth of the budget and 256 tokens", () => {
    const many = Array.from({ length: 400 }, (_, index) => said(`m${index}`, long(`thing ${index}`)));
    for (const [budgetTokens, most] of [
      [1_000, 100],
      [9_000, 256],
    ] as const) {
      const { kept } = shiftNow(summarize, { blocks: [...many, input], budgetTokens });
      const summary = kept.find(({ source }) => source === "summary");
      expect(summary?.tokens).toBeLessThanOrEqual(most);
      expect(summary?.tokens).toBeGreaterThan(most / 2);
      expect(total(kept)).toBeLessThanOrEqual(budgetTokens);
    }
  });

  it("is left out when it would not be smaller than what it stands for, and truncate's result stands", () => {
    const short = ["ok", "yes", "no", "so"].map((content, index) => said(`h${index}`, content));
    const { kept, diagnostics, excluded } = shiftNow(summarize, { blocks: [...short, input], budgetTokens: 20 });
    expect(kept.map(({ id }) => id)).toEqual(["h2", "h3", "input"].slice(3 - kept.length));
    expect(new Set(excluded.map(({ reason }) => reason))).toEqual(new Set(["shift_oldest"]));
    expect(diagnostics.map(({ code }) => code)).toEqual(["summary_not_smaller"]);
  });

  it("is left out when all that an earlier cut took is less than a line", () => {
    const blocks = [said("tiny", "ok"), said("h1", "Then they met."), input];
    const { kept, diagnostics } = shiftNow(summarize, { blocks, budgetTokens: 500, lowWater: 0.7, anchorId: "h1" });
    expect(kept.map(({ id }) => id)).toEqual(["h1", "input"]);
    expect(diagnostics.map(({ code }) => code)).toEqual(["summary_not_smaller"]);
  });

  it("never stands between a call and its result, even when the input does", () => {
    const call = said("call", "", { role: "assistant", toolCalls: [aCall("c")], groupId: "g", pinned: true });
    const result = said("result", "42", { role: "tool", toolCallId: "c", groupId: "g" });
    const { kept } = shiftNow(summarize, {
      blocks: [...history, call, input, result],
      budgetTokens: 150,
      strategyOptions: { summaryTokens: 100 },
    });
    expect(kept.map(({ source, id }) => (source === "summary" ? "summary" : id)).slice(-4)).toEqual([
      "summary",
      "call",
      "input",
      "result",
    ]);
  });

  it("takes an earlier summary over: its lines, and the ids it covered", () => {
    const first = shiftNow(summarize, {
      blocks: [...history, input],
      budgetTokens: 200,
      strategyOptions: { summaryTokens: 100 },
    });
    const next = first.kept.map((block) => (block.id === "input" ? { ...block, source: "history" as const } : block));
    const more = [said("h6", long("saw")), said("h7", long("net")), said("input2", "And now?", { source: "input" })];
    const { kept, summary } = shiftNow(summarize, {
      blocks: [...next, ...more],
      budgetTokens: 200,
      strategyOptions: { summaryTokens: 140 },
    });
    expect(kept.filter(({ source }) => source === "summary")).toHaveLength(1);
    expect(summary?.covers).toEqual(expect.arrayContaining(["h0", "h1", "h2", "h3", "h4", "h5"]));
    expect(kept.find(({ source }) => source === "summary")?.content).toContain("stone 3");
  });

  it("takes no room from lore, memories or examples that would have stayed", () => {
    const lore = said("lore", long("lore"), { source: "lorebook", role: "system" });
    const { kept } = shiftNow(summarize, { blocks: [lore, ...history, input], budgetTokens: 130 });
    expect(kept.map(({ id }) => id)).toContain("lore");
  });

  it("hides the reasoning that leads a reply, and only that", () => {
    const thinking = said("h", `<think>SENTINEL-77 tired</think>Take the lake road. ${long("x")}`, {
      role: "assistant",
    });
    const user = said("u", `What does <think>x</think> mean? ${"Do tell. ".repeat(30)}`);
    const { kept } = shiftNow(summarize, {
      blocks: [thinking, user, input],
      budgetTokens: 110,
      strategyOptions: { summaryTokens: 90 },
    });
    const text = kept.find(({ source }) => source === "summary")?.content ?? "";
    expect(text).not.toContain("SENTINEL-77");
    expect(text).toContain("What does <think>x</think> mean?");
  });

  it("quotes calls that came without text", () => {
    const call = said("call", "", {
      role: "assistant",
      toolCalls: [aCall("c", '{"q":"tide"}')],
      groupId: "g",
      tokens: 60,
    });
    const result = said("result", long("tide"), { role: "tool", toolCallId: "c", groupId: "g" });
    const { kept } = shiftNow(summarize, {
      blocks: [call, result, ...history, input],
      budgetTokens: 250,
      strategyOptions: { summaryTokens: 200 },
    });
    expect(kept.find(({ source }) => source === "summary")?.content).toContain('assistant called lookup({"q":"tide"})');
  });
});
