import { describe, expect, it } from "vitest";
import type { WireSettings } from "../../settings.ts";
import { countRequest } from "../../stages/verify.ts";
import { aBlock } from "../../testing/conversation.ts";
import { aShiftContext } from "../../testing/shifting.ts";
import { createCounter } from "../../tokens/counter.ts";
import { profileFor } from "../../tokens/profiles.ts";
import { singleTurnRequest } from "../../wire/single-turn.ts";
import { run } from "../plan.ts";
import type { ShiftContext } from "../strategy.ts";
import type { Summariser } from "./summariser.ts";
import { writeSummary, type Written } from "./write-summary.ts";

const MAX_TOKENS = 128;
const CHAT: WireSettings = { shape: "chat" };
const TEXT: WireSettings = { shape: "text", format: "chatml" };

/** As a counter of another encoding sees it: next to nothing. */
const CHEAP: Partial<ShiftContext> = { contextLimit: 1_000_000, count: () => 1 };

interface Asking {
  readonly written: Written;
  readonly prompts: readonly string[];
}

async function asking(lines: readonly string[], part: Partial<Summariser>, reply = "So far."): Promise<Asking> {
  const prompts: string[] = [];
  const summarise: Summariser["summarise"] = (prompt) => {
    prompts.push(prompt);
    return Promise.resolve(reply);
  };
  const blocks = lines.map((content, index) => aBlock(`h${index}`, { content }));
  const summariser = { id: "p/m", contextLimit: 2_000, summarise, ...part };
  const written = await run(writeSummary(blocks, summariser, MAX_TOKENS, aShiftContext(CHEAP)));
  return { written, prompts };
}

function costOf(prompt: string, model: string, wire: WireSettings): number {
  const request = singleTurnRequest({ wire, model, text: prompt, maxTokens: MAX_TOKENS });
  return countRequest(createCounter(profileFor(model)), request);
}

const HINDI = "प्रकाशस्तंभ के रखवाले ने भोर से पहले बयालीस घंटियाँ गिनीं और किसी ने उत्तर नहीं दिया। ";
const lines = (count: number, text: string): string[] =>
  Array.from({ length: count }, (_, index) => `Fact ${index}. ${text}`);

describe("a summariser with a model and wire of its own", () => {
  it.each([
    ["another encoding", "gpt-4", CHAT, lines(60, HINDI)],
    ["text mode", "gpt-4", TEXT, lines(60, HINDI)],
    ["an approximate count", "claude-3-haiku", CHAT, lines(200, HINDI)],
    ["text mode, and marks in the text that are put out of action", "gpt-4o", TEXT, lines(60, "<|im_end|>".repeat(20))],
    ["tags in the text that are put out of action", "gpt-4o", CHAT, lines(60, "</transcript>".repeat(20))],
    ["one line longer than many windows", "gpt-4", TEXT, [HINDI.repeat(200)]],
    ["many lines of one word", "gpt-4", TEXT, lines(900, "Aye.")],
  ] as const)("is asked within its window: %s", async (_what, model, wire, given) => {
    const { written, prompts } = await asking(given, { request: { model, wire } });
    expect(written.ok).toBe(true);
    const margin = profileFor(model).approximate ? 100 : 0;
    const costs = prompts.map((prompt) => costOf(prompt, model, wire));
    expect(Math.max(...costs) + MAX_TOKENS + margin).toBeLessThanOrEqual(2_000);
    // Few calls: each but the last takes more than half of what there is room for.
    expect(prompts.length).toBeGreaterThan(1);
    expect(Math.min(...costs.slice(0, -1))).toBeGreaterThan(936);
  });

  it("is told every line once, in order, each time with the summary so far", async () => {
    const given = lines(200, "The keeper counted the bells again.");
    const { written, prompts } = await asking(given, { request: { model: "gpt-4", wire: TEXT } });
    const told = prompts.flatMap((prompt) => [...prompt.matchAll(/^user: (Fact \d+\. .*)$/gm)].map(([, line]) => line));
    expect(told).toEqual(given);
    expect(prompts.map((prompt) => prompt.includes("<earlier_summary>\nSo far.\n"))).toEqual([
      false,
      ...prompts.slice(1).map(() => true),
    ]);
    expect(written).toMatchObject({ ok: true, facts: { calls: prompts.length, text: "So far." } });
  });

  it("is asked once when all of it fits to the token", async () => {
    const given = lines(10, HINDI);
    const request = { model: "gpt-4", wire: TEXT };
    const { prompts } = await asking(given, { request });
    const exactly = costOf(prompts[0] ?? "", request.model, TEXT) + MAX_TOKENS;
    expect((await asking(given, { request, contextLimit: exactly })).prompts).toHaveLength(1);
    expect((await asking(given, { request, contextLimit: exactly - 1 })).prompts.length).not.toBe(1);
  });

  it("gives up, instead of asking beyond the window, when its reply is longer than it was allowed", async () => {
    const request = { model: "gpt-4o", wire: CHAT };
    const { written, prompts } = await asking(lines(200, HINDI), { request }, "On and on. ".repeat(2_000));
    expect(written).toMatchObject({ ok: false, code: "summary_failed" });
    expect(prompts).toHaveLength(1);
  });
});

it("a summariser of which no more is known is counted as the turn is, with a twentieth kept free", async () => {
  const count: ShiftContext["count"] = (block) => Promise.resolve(4 + Math.ceil(block.content.length / 4));
  const prompts: string[] = [];
  const summarise = (prompt: string) => {
    prompts.push(prompt);
    return Promise.resolve("So far.");
  };
  const blocks = lines(200, "The keeper counted.").map((content, index) => aBlock(`h${index}`, { content }));
  const summariser = { id: "p/m", contextLimit: 1_000, summarise };
  const written = await run(writeSummary(blocks, summariser, MAX_TOKENS, aShiftContext({ count })));
  expect(written.ok).toBe(true);
  for (const prompt of prompts) expect(4 + prompt.length / 4 + MAX_TOKENS).toBeLessThanOrEqual(950);
});
