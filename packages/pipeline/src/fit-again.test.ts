import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { startAssembly, type Assembly } from "./assembly.ts";
import { reportAssembly } from "./audit/report.ts";
import { tightenBudget, type ToldSize } from "./budget.ts";
import { runStage, STAGES } from "./build-prompt.ts";
import { underTighterBudget } from "./fit-again.ts";
import { aConversation, aMessage, anInput } from "./testing/conversation.ts";

const signal = new AbortController().signal;
const SHIFT = STAGES.findIndex(({ name }) => name === "shift");
const NOTHING_TOLD: ToldSize = { limitTokens: null, promptTokens: null };

async function through(assembly: Assembly, from: number, to: number): Promise<Assembly> {
  let next = assembly;
  for (const stage of STAGES.slice(from, to)) next = await runStage(stage, next, signal);
  return next;
}

async function refusedPrompt(contextLimit = 400) {
  const messages = Array.from({ length: 30 }, (_, index) => aMessage(index + 1));
  const started = startAssembly(anInput(aConversation(messages), { budget: { contextLimit, reservedForReply: 40 } }));
  const unshifted = await through(started, 0, SHIFT);
  return { unshifted, refused: await through(unshifted, SHIFT, STAGES.length) };
}

const fitAgain = async (unshifted: Assembly, refused: Assembly, told: ToldSize) =>
  reportAssembly(await through(underTighterBudget(unshifted, refused, told), SHIFT, STAGES.length));

describe("a prompt that a provider refused as too long", () => {
  it("is fitted again, strictly smaller, and its audit names both budgets", async () => {
    const { unshifted, refused } = await refusedPrompt();
    const again = await fitAgain(unshifted, refused, NOTHING_TOLD);
    expect(again.error).toBeNull();
    expect(again.budget.promptTokens).toBeLessThanOrEqual(Math.floor(refused.promptTokens! * 0.75));
    expect(again.budget.reservedForReply).toBe(40);
    expect(again.request?.max_tokens).toBe(refused.request?.max_tokens);
    expect(again.diagnostics.find(({ code }) => code === "overflow")?.detail).toEqual({
      promptTokens: refused.promptTokens,
      contextLimit: 400,
      budgetTokens: 360,
      newContextLimit: again.budget.contextLimit,
      newBudgetTokens: again.budget.budgetTokens,
      toldLimitTokens: null,
      toldPromptTokens: null,
    });
    expect(again.blocks.find(({ source }) => source === "input")?.included).toBe(true);
  });

  it("that cannot be made shorter is the error with its breakdown", async () => {
    const { unshifted, refused } = await refusedPrompt();
    const again = await fitAgain(unshifted, refused, { limitTokens: 45, promptTokens: null });
    expect(again.request).toBeNull();
    expect(again.error).toMatchObject({ code: "TOKEN_BUDGET_EXCEEDED", budgetTokens: 2 });
    expect(again.error?.largest.length).toBeGreaterThan(0);
  });

  it("uses the summary that was written for it again", async () => {
    const { unshifted, refused } = await refusedPrompt();
    const summariser = { id: "s", contextLimit: null, summarise: null };
    const summary = { sourceHash: "h", text: "Then it rained.", covers: [], calls: 1, exact: true };
    const withSummariser = { ...unshifted, input: { ...unshifted.input, summariser } };
    const { input } = underTighterBudget(withSummariser, { ...refused, summary }, NOTHING_TOLD);
    expect(input.summariser?.stored).toEqual({ sourceHash: "h", text: "Then it rained." });
  });
});

describe("a tighter budget", () => {
  const budget = { contextLimit: 10_000, reservedForReply: 1_000, margin: 0, budgetTokens: 9_000 };

  it("is the told window without the reply's reserve and a margin, where that is less", () => {
    expect(tightenBudget(budget, 8_000, { limitTokens: 6_000, promptTokens: null })).toEqual({
      contextLimit: 6_000,
      reservedForReply: 1_000,
      margin: 300,
      budgetTokens: 4_700,
    });
  });

  it("is scaled by how much more the provider counted", () => {
    const { budgetTokens } = tightenBudget(budget, 8_000, { limitTokens: 10_000, promptTokens: 12_000 });
    expect(budgetTokens).toBe(6_000 - 350);
  });

  it("is three quarters of the prompt where the told window explains nothing", () => {
    expect(tightenBudget(budget, 4_000, { limitTokens: 10_000, promptTokens: null }).budgetTokens).toBe(3_000);
  });

  it("is nothing when the reserve alone fills the told window: the reserve is the caller's", () => {
    const tight = tightenBudget(budget, 8_000, { limitTokens: 900, promptTokens: null });
    expect(tight).toMatchObject({ reservedForReply: 1_000, budgetTokens: 0 });
  });

  it("is always smaller than the refused prompt, and keeps prompt and reply within its window", () => {
    const size = fc.option(fc.integer({ min: 1, max: 300_000 }), { nil: null });
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 200_000 }),
        fc.double({ min: 0.01, max: 0.9, noNaN: true }),
        fc.double({ min: 0.01, max: 1, noNaN: true }),
        fc.record({ limitTokens: size, promptTokens: size }),
        (contextLimit, reserveShare, filled, told) => {
          const reservedForReply = Math.max(1, Math.floor(contextLimit * reserveShare));
          const refused = { contextLimit, reservedForReply, margin: 0, budgetTokens: contextLimit - reservedForReply };
          const promptTokens = Math.max(1, Math.floor(refused.budgetTokens * filled));
          const tight = tightenBudget(refused, promptTokens, told);
          expect(tight.budgetTokens).toBeLessThan(promptTokens);
          expect(tight.budgetTokens).toBeGreaterThanOrEqual(0);
          expect(tight.reservedForReply).toBe(reservedForReply);
          if (tight.budgetTokens === 0) return;
          expect(tight.budgetTokens + tight.reservedForReply + tight.margin).toBe(tight.contextLimit);
          expect(tight.contextLimit).toBeLessThanOrEqual(contextLimit);
        },
      ),
      { seed: 7, numRuns: 300 },
    );
  });
});
