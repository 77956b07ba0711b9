import { describe, expect, it } from "vitest";
import { resolveBudget } from "./budget.ts";
import { AssemblyInputError } from "./errors.ts";
import type { AssemblySettings } from "./settings.ts";

const exact = { approximate: false };
const unknownModel = { contextLimit: null, maxOutputTokens: null };

function settings(part: Partial<AssemblySettings>) {
  return { model: "m", modelFacts: unknownModel, budget: {}, parameters: {}, ...part };
}

function refusal(part: Partial<AssemblySettings>): { code: string; pointer: string } {
  try {
    resolveBudget(settings(part), exact);
  } catch (error) {
    if (error instanceof AssemblyInputError) return { code: error.code, pointer: error.pointer };
    throw error;
  }
  return { code: "none", pointer: "" };
}

describe("resolveBudget", () => {
  it("refuses a window of an unknown model that nobody offers", () => {
    expect(refusal({ budget: { contextLimit: 100_000_000 } }).code).toBe("none");
    expect(refusal({ budget: { contextLimit: 100_000_001 } })).toEqual({
      code: "VALIDATION_FAILED",
      pointer: "/budget/contextLimit",
    });
  });

  it.each([
    [512, 256],
    [8_192, 1_024],
    [200_000, 4_096],
    [1_000, 256],
    [300, 150],
    [2, 1],
  ])("reserves of a window of %i tokens %i by default", (contextLimit, reservedForReply) => {
    expect(resolveBudget(settings({ budget: { contextLimit } }), exact)).toEqual({
      contextLimit,
      reservedForReply,
      margin: 0,
      budgetTokens: contextLimit - reservedForReply,
    });
  });

  it("reserves no more by default than the model can answer", () => {
    const modelFacts = { contextLimit: 200_000, maxOutputTokens: 1_000 };
    expect(resolveBudget(settings({ modelFacts }), exact).reservedForReply).toBe(1_000);
  });

  it("leaves room for history when a model's largest reply is its whole window", () => {
    const modelFacts = { contextLimit: 200_000, maxOutputTokens: 200_000 };
    expect(resolveBudget(settings({ modelFacts }), exact).budgetTokens).toBe(200_000 - 4_096);
  });

  it("takes the reserve from the budget, then from maxTokens", () => {
    const budget = { contextLimit: 1_000 };
    expect(resolveBudget(settings({ budget, parameters: { maxTokens: 250 } }), exact).budgetTokens).toBe(750);
    const both = settings({ budget: { ...budget, reservedForReply: 100 }, parameters: { maxTokens: 250 } });
    expect(resolveBudget(both, exact).reservedForReply).toBe(100);
  });

  it("keeps 5 % of the window back when counts are approximate", () => {
    const resolved = resolveBudget(settings({ budget: { contextLimit: 8_192 } }), { approximate: true });
    expect(resolved.margin).toBe(410);
    expect(resolved.budgetTokens).toBe(8_192 - 1_024 - 410);
  });

  it("refuses a model whose window nobody knows", () => {
    expect(refusal({})).toEqual({ code: "MODEL_UNKNOWN", pointer: "/budget/contextLimit" });
  });

  it.each([0, -1, Number.NaN, 1.5, Number.POSITIVE_INFINITY, "8192", 1])("refuses a window of %s", (value) => {
    const contextLimit = value as number;
    expect(refusal({ budget: { contextLimit } })).toEqual({
      code: "VALIDATION_FAILED",
      pointer: "/budget/contextLimit",
    });
  });

  it.each([0, -5, Number.NaN, 12.5, 1_000, 5_000])(
    "refuses a reserve of %s in a window of 1,000",
    (reservedForReply) => {
      const budget = { contextLimit: 1_000, reservedForReply };
      expect(refusal({ budget })).toEqual({ code: "VALIDATION_FAILED", pointer: "/budget/reservedForReply" });
    },
  );

  it.each([0, -5, Number.NaN, 0.5, 1_000])("refuses maxTokens %s in a window of 1,000", (maxTokens) => {
    const wanted = { budget: { contextLimit: 1_000, reservedForReply: 10 }, parameters: { maxTokens } };
    expect(refusal(wanted)).toEqual({ code: "VALIDATION_FAILED", pointer: "/parameters/maxTokens" });
  });

  it("refuses a window larger than the model's own", () => {
    const modelFacts = { contextLimit: 8_192, maxOutputTokens: null };
    const asked = { modelFacts, budget: { contextLimit: 8_193 } };
    expect(refusal(asked)).toEqual({ code: "VALIDATION_FAILED", pointer: "/budget/contextLimit" });
    expect(resolveBudget(settings({ modelFacts, budget: { contextLimit: 4_096 } }), exact).contextLimit).toBe(4_096);
  });
});
