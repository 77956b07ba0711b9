import { describe, expect, it } from "vitest";
import { createStrategyRegistry, resolveStrategy, STRATEGIES } from "./registry.ts";
import type { Strategy } from "./strategy.ts";

const params = {
  type: "object",
  properties: { depth: { type: "integer", minimum: 1, description: "How far." } },
} as const;
const theirs = (id: string, priority?: number): Strategy => ({
  id,
  params,
  ...(priority === undefined ? {} : { priority }),
  shift: ({ blocks }) => ({ kept: blocks }),
});

describe("ContextStrategyRegistry", () => {
  it("finds what was registered until it is taken out", () => {
    const registry = createStrategyRegistry();
    const remove = registry.register(theirs("newest"));
    expect(registry.find("newest")?.id).toBe("newest");
    remove();
    remove();
    expect(registry.find("newest")).toBeUndefined();
  });

  it("lets the higher priority win and brings the other back", () => {
    const registry = createStrategyRegistry();
    const remove = registry.register(theirs("truncate", 1));
    expect(registry.find("truncate")?.priority).toBe(1);
    registry.register(theirs("truncate", 0));
    remove();
    expect(registry.find("truncate")).toBe(STRATEGIES.truncate);
  });

  it("names every known id once when it is asked for another", () => {
    const registry = createStrategyRegistry();
    registry.register(theirs("newest"));
    registry.register(theirs("newest"));
    expect(() => resolveStrategy("magic", {}, registry)).toThrow(
      expect.objectContaining({
        code: "STRATEGY_UNKNOWN",
        fix: "Choose one of: truncate, summarize, vector-recall, manual, compress, newest.",
      }),
    );
  });

  it.each([
    ["newest", { depth: 0 }, "/strategyOptions/depth"],
    ["newest", { depth: "far" }, "/strategyOptions/depth"],
    ["truncate", { lowWater: 1.5 }, "/strategyOptions/lowWater"],
    ["truncate", { lowWater: Number.NaN }, "/strategyOptions/lowWater"],
    ["manual", { shorten: "no" }, "/strategyOptions/shorten"],
    ["compress", { summarizer: { model: 7 } }, "/strategyOptions/summarizer/model"],
    ["compress", { summarizer: [] }, "/strategyOptions/summarizer"],
    ["summarize", { summaryTokens: 1.5 }, "/strategyOptions/summaryTokens"],
  ])("checks the options of %s against its schema: %j", (id, options, pointer) => {
    const registry = createStrategyRegistry();
    registry.register(theirs("newest"));
    expect(() => resolveStrategy(id, options, registry)).toThrow(
      expect.objectContaining({ code: "VALIDATION_FAILED", pointer }),
    );
  });

  it("reads no option that a schema does not name", () => {
    expect(resolveStrategy("truncate", { colour: "red" }).id).toBe("truncate");
  });
});
