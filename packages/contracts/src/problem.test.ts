import { describe, expect, it } from "vitest";
import { budgetProblem } from "./problem.ts";

describe("a problem", () => {
  it("of an exhausted budget lists the dearest blocks without their titles", () => {
    const problem = budgetProblem({
      code: "TOKEN_BUDGET_EXCEEDED",
      protectedTokens: 900,
      budgetTokens: 700,
      contextLimit: 1000,
      reservedForReply: 300,
      largest: [{ blockId: "lore:1", source: "lorebook", label: "The secret", tokens: 800 }],
    });
    expect(problem.params["largest"]).toEqual([{ blockId: "lore:1", source: "lorebook", tokens: 800 }]);
  });
});
