import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CountedBlock } from "../block.ts";
import { AssemblyInputError } from "../errors.ts";
import { aBlock } from "../testing/conversation.ts";
import { groupBlocks } from "./group.ts";
import { protectedIds } from "./protection.ts";
import { resolveStrategy, STRATEGIES } from "./registry.ts";
import { shiftNow } from "../testing/shifting.ts";
import type { BuiltInStrategy } from "./strategy.ts";

const RUNS = { seed: 20_260_101, numRuns: 300 };

/** Blocks as a prompt has them: some in groups, some pinned, an input somewhere in the branch. */
const prompts = fc
  .array(
    fc.record({
      source: fc.constantFrom("system", "character", "lorebook", "memory", "example", "history", "history", "history"),
      tokens: fc.integer({ min: 1, max: 60 }),
      pinned: fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0),
      required: fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0),
      relevance: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
      group: fc.option(fc.integer({ min: 0, max: 4 })),
      call: fc.boolean(),
    }),
    { maxLength: 40 },
  )
  .map((parts) => {
    const inputAt = parts.findLastIndex((part) => part.source === "history" && part.group === null);
    return parts.map((part, index): CountedBlock => {
      const source = index === inputAt ? "input" : (part.source as CountedBlock["source"]);
      const groupId = source === "history" && part.group !== null ? `g${part.group}` : null;
      const toolCalls = groupId !== null && part.call ? [{ id: `c${index}`, name: "f", arguments: "{}" }] : [];
      const { tokens, pinned, required, relevance } = part;
      return aBlock(`b${index}`, { source, tokens, pinned, required, relevance, groupId, toolCalls });
    });
  });

const budgets = fc.integer({ min: 0, max: 1_500 });
const sum = (blocks: readonly { readonly tokens: number | null }[]): number =>
  blocks.reduce((total, block) => total + (block.tokens ?? 0), 0);

describe.each(Object.values<BuiltInStrategy>(STRATEGIES))("strategy $id", (strategy) => {
  const shift = (blocks: readonly CountedBlock[], budgetTokens: number) =>
    shiftNow(strategy, { blocks, budgetTokens, overheadTokens: 5 });

  it("puts every block in exactly one of kept and excluded, kept in prompt order", () => {
    fc.assert(
      fc.property(prompts, budgets, (blocks, budget) => {
        const { kept, excluded } = shift(blocks, budget);
        const out = new Set(excluded.map(({ block }) => block.id));
        expect(out.size).toBe(excluded.length);
        expect(kept.map((block) => block.id)).toEqual(blocks.map((block) => block.id).filter((id) => !out.has(id)));
      }),
      RUNS,
    );
  });

  it("keeps whole groups and everything protected", () => {
    fc.assert(
      fc.property(prompts, budgets, (blocks, budget) => {
        const kept = new Set(shift(blocks, budget).kept.map((block) => block.id));
        for (const { members } of groupBlocks(blocks)) {
          expect(new Set(members.map((block) => kept.has(block.id))).size).toBe(1);
        }
        for (const id of protectedIds(blocks)) expect(kept.has(id)).toBe(true);
      }),
      RUNS,
    );
  });

  it("fits the budget, or says that what is protected does not", () => {
    fc.assert(
      fc.property(prompts, budgets, (blocks, budget) => {
        const { kept, exceeded } = shift(blocks, budget);
        const total = sum(kept) + 5;
        expect(exceeded === null).toBe(total <= budget);
        expect(exceeded?.protectedTokens ?? total).toBe(total);
        const locked = protectedIds(blocks);
        expect(exceeded === null || kept.every((block) => locked.has(block.id))).toBe(true);
      }),
      RUNS,
    );
  });

  it("reports steps whose numbers follow each other down to what is kept", () => {
    fc.assert(
      fc.property(prompts, budgets, (blocks, budget) => {
        const { kept, steps } = shift(blocks, budget);
        let total = sum(blocks) + 5;
        for (const step of steps) {
          expect(step.tokensBefore).toBe(total);
          total = step.tokensAfter;
        }
        expect(total).toBe(sum(kept) + 5);
      }),
      RUNS,
    );
  });

  it("shifts its own result to itself", () => {
    fc.assert(
      fc.property(prompts, budgets, (blocks, budget) => {
        const { kept } = shift(blocks, budget);
        expect(shift(kept, budget).kept).toEqual(kept);
      }),
      RUNS,
    );
  });
});

describe("truncate", () => {
  it("keeps with a larger budget what it keeps with a smaller one", () => {
    fc.assert(
      fc.property(prompts, budgets, budgets, (blocks, one, other) => {
        const kept = (budgetTokens: number) =>
          shiftNow(STRATEGIES.truncate, { blocks, budgetTokens, overheadTokens: 5 }).kept.map((block) => block.id);
        const larger = new Set(kept(Math.max(one, other)));
        for (const id of kept(Math.min(one, other))) expect(larger.has(id)).toBe(true);
      }),
      RUNS,
    );
  });
});

describe("resolveStrategy", () => {
  it("names the known ids when it is asked for another", () => {
    let refused: unknown;
    try {
      resolveStrategy("shrink", {});
    } catch (error) {
      refused = error;
    }
    expect(refused).toBeInstanceOf(AssemblyInputError);
    expect(refused).toMatchObject({ code: "STRATEGY_UNKNOWN", pointer: "/contextStrategy" });
    expect((refused as AssemblyInputError).fix).toContain("truncate");
  });

  it("knows no strategy by an inherited name", () => {
    expect(() => resolveStrategy("constructor", {})).toThrow(AssemblyInputError);
  });
});
