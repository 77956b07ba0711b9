import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TokenBudgetExceededError } from "../errors.ts";
import { budgetOf, costOf, histories, shares, type TokMessage } from "../testing/histories.ts";
import { linkToolCalls } from "../wire/tool-links.ts";
import { callIdOf, callsOf, type ContextMessage } from "./context-message.ts";
import { createStrategyRegistry, STRATEGIES } from "./registry.ts";
import { shiftContext } from "./shift-context.ts";
import type { CountTokens, ShiftOptions, ShiftOutcome } from "./shift-options.ts";
import type { AnsweredBlock, Strategy } from "./strategy.ts";

const RUNS = { seed: 20_260_103, numRuns: 150 };

/** Strategies of strangers: they drop, add, edit, pin, reorder, lie, throw and never answer. */
const misbehaving: Strategy["shift"][] = [
  ({ blocks }) => ({ kept: blocks.slice(0, 2) }),
  ({ blocks }) => ({ kept: blocks.toReversed(), excluded: [] }),
  ({ blocks }) => ({
    kept: blocks.map((block) => ({ ...block, content: "owned", role: "system" as const, pinned: true })),
  }),
  ({ blocks }) => ({
    kept: [...blocks, { id: "x", source: "system", role: "system", content: "obey", pinned: true } as AnsweredBlock],
  }),
  ({ blocks }) => ({ kept: [{ id: "s", source: "summary", content: "In short. ".repeat(20) }, ...blocks] }),
  ({ blocks }) => ({ kept: blocks.filter((_block, index) => index % 2 === 0) }),
  ({ blocks }) => {
    for (const block of blocks) Object.assign(block, { content: "", tokens: 0 });
    return { kept: blocks };
  },
  () => ({ kept: [null] }) as never,
  () => undefined as never,
  () => {
    throw new Error("broken");
  },
];
const registry = createStrategyRegistry();
const strangers = misbehaving.map((shift, index) => {
  const id = `stranger-${index}`;
  registry.register({ id, params: { type: "object", properties: {} }, shift });
  return id;
});

const summariser = {
  id: "s",
  contextLimit: null,
  summarise: () => Promise.resolve("They counted bells."),
};
const every = [...Object.keys(STRATEGIES), ...strangers];

type Outcome = ShiftOutcome<TokMessage>;

async function shifting(
  messages: readonly TokMessage[],
  budget: number,
  options: ShiftOptions<TokMessage>,
  count: CountTokens<TokMessage> = costOf,
) {
  try {
    return await shiftContext(messages, count, budget, {
      registry,
      summariser,
      ...options,
    });
  } catch (error) {
    if (error instanceof TokenBudgetExceededError) return null;
    throw error;
  }
}

function checking(
  strategy: string,
  check: (
    outcome: Outcome,
    messages: readonly TokMessage[],
    budget: number,
    options: ShiftOptions<TokMessage>,
  ) => unknown,
) {
  const options = fc.record({
    strategy: fc.constant(strategy),
    overheadTokens: fc.constantFrom(0, 7),
    strategyOptions: fc.constantFrom({}, { shorten: false }, { summaryTokens: 150 }),
  });
  const lowWater = fc.constantFrom({}, {}, { lowWater: 0.6 }, { lowWater: 0.6, anchorId: "m12" });
  return fc.assert(
    fc.asyncProperty(histories, shares, options, lowWater, async (messages, share, some, low) => {
      const budget = budgetOf(messages, share);
      const chosen = { ...some, ...low };
      const outcome = await shifting(messages, budget, chosen);
      if (outcome !== null) await check(outcome, messages, budget, chosen);
    }),
    RUNS,
  );
}

const shortened = ({ truncated }: Outcome) => new Set<unknown>(truncated.map(({ replacement }) => replacement));
const original = (outcome: Outcome, message: object) =>
  outcome.truncated.find(({ replacement }) => replacement === message)?.message ?? message;

function problemsOf(kept: readonly ContextMessage[]): readonly unknown[] {
  const links = linkToolCalls(
    kept.map((message) => ({
      role: message.role === "tool" ? ("tool" as const) : ("assistant" as const),
      toolCalls: callsOf(message),
      toolCallId: callIdOf(message),
    })),
  );
  return links.filter(({ broken }) => broken !== null);
}

describe.each(every)("shiftContext with %s", (strategy) => {
  it("puts every message in exactly one of kept (in its order) and excluded", async () => {
    await checking(strategy, (outcome, messages) => {
      const given = new Set<unknown>(messages);
      const kept = outcome.kept.map((message) => original(outcome, message)).filter((message) => given.has(message));
      const out = outcome.excluded.map(({ message }) => message);
      expect(new Set([...kept, ...out]).size).toBe(messages.length);
      expect(kept.length + out.length).toBe(messages.length);
      expect(kept).toEqual(messages.filter((message) => kept.includes(message)));
    });
  });

  it("stays within the budget, counted on what it returns", async () => {
    await checking(strategy, ({ kept }, _messages, budget, { overheadTokens = 0 }) => {
      const total = kept.reduce((sum, message) => sum + costOf(message), overheadTokens);
      expect(total).toBeLessThanOrEqual(budget);
    });
  });

  it("keeps pins, system messages and the input, and changes no text but what it says it shortened", async () => {
    await checking(strategy, (outcome, messages) => {
      const { kept, excluded } = outcome;
      const broken = new Set(excluded.filter(({ reason }) => reason.includes("tool")).map(({ message }) => message));
      const sendable = messages.filter((message) => !broken.has(message));
      const input = sendable.findLast(({ role }) => role === "user");
      const locked = sendable.filter(
        (message) => message === input || message.pinned || (message.role === "system" && !message.meta?.optional),
      );
      const present = new Set<unknown>(kept);
      for (const message of locked) expect(present.has(message)).toBe(true);
      const replaced = shortened(outcome);
      const given = new Set<unknown>(messages);
      for (const message of kept) {
        if (given.has(message) || replaced.has(message)) continue;
        expect(message.meta).toMatchObject({ source: "summary", optional: true });
        expect((message as ContextMessage).pinned ?? false).toBe(false);
      }
    });
  });

  it("leaves no call without its results and no result without its call", async () => {
    await checking(strategy, ({ kept }) => expect(problemsOf(kept)).toEqual([]));
  });

  it("shifts its own result to itself", async () => {
    await checking(strategy, async (outcome, _messages, budget, options) => {
      if (strategy.startsWith("stranger") || strategy === "compress") return;
      const again = await shifting(outcome.kept as readonly TokMessage[], budget, options);
      expect(again?.kept).toEqual(outcome.kept);
    });
  });

  it("does the same twice, and changes nothing it is given", async () => {
    await checking(strategy, async (outcome, messages, budget, options) => {
      const before = structuredClone(messages);
      const again = await shifting(
        messages.map((message) => Object.freeze(message)),
        budget,
        options,
      );
      expect(again).toEqual(outcome);
      expect(messages).toEqual(before);
    });
  });

  it("is not moved by what cannot be sent anyway", async () => {
    await checking(strategy, async (outcome, messages, budget, options) => {
      if (strategy.startsWith("stranger")) return;
      const ghost = { id: "ghost", role: "tool", content: "?", tok: 5, original: "?", tool_call_id: "nobody" };
      const again = await shifting([...messages, ghost], budget, options);
      expect(again?.kept).toEqual(outcome.kept);
    });
  });

  it("names in a summary exactly what it covers, and covers more than it costs", async () => {
    await checking(strategy, ({ kept, excluded }) => {
      const summary = kept.find(({ meta }) => meta?.source === "summary");
      const covered = excluded.filter(({ reason }) => reason === "summarized").map(({ message }) => message);
      if (summary === undefined) expect(covered).toEqual([]);
      if (summary === undefined || strategy.startsWith("stranger")) return;
      expect(new Set((summary.meta as { covers: readonly string[] }).covers)).toEqual(
        new Set(covered.map(({ id }) => id)),
      );
      expect(costOf(summary)).toBeLessThan(covered.reduce((sum, message) => sum + costOf(message), 0));
    });
  });
});

describe.each(Object.keys(STRATEGIES))("the counter, with %s", (strategy) => {
  it("is asked for a message once, and once more if that stays", async () => {
    await fc.assert(
      fc.asyncProperty(histories, shares, async (messages, share) => {
        const asked = new Map<TokMessage, number>();
        const count = (message: TokMessage): number => {
          asked.set(message, (asked.get(message) ?? 0) + 1);
          return costOf(message);
        };
        const outcome = await shifting(messages, budgetOf(messages, share), { strategy }, count);
        if (outcome === null) return;
        const kept = new Set<unknown>(outcome.kept);
        for (const message of messages) {
          expect(asked.get(message) ?? 0).toBeLessThanOrEqual(kept.has(message) ? 2 : 1);
        }
      }),
      RUNS,
    );
  });
});

describe.each(Object.keys(STRATEGIES))("a counter that makes it wait, with %s", (strategy) => {
  it("gives what one that answers at once gives", async () => {
    await fc.assert(
      fc.asyncProperty(histories, shares, async (messages, share) => {
        const budget = budgetOf(messages, share);
        const waited = await shifting(messages, budget, { strategy }, (message) => Promise.resolve(costOf(message)));
        expect(waited).toEqual(await shifting(messages, budget, { strategy }));
      }),
      { ...RUNS, numRuns: 40 },
    );
  });
});

describe("truncate", () => {
  it("keeps with a larger budget what it keeps with a smaller one", () => {
    const keptIds = (messages: readonly TokMessage[], budget: number): readonly string[] | null => {
      try {
        return shiftContext(messages, costOf as (message: TokMessage) => number, budget).kept.map(
          (message) => (message as TokMessage).id,
        );
      } catch {
        return null;
      }
    };
    fc.assert(
      fc.property(histories, shares, shares, (messages, one, other) => {
        const less = keptIds(messages, budgetOf(messages, Math.min(one, other)));
        const more = new Set(keptIds(messages, budgetOf(messages, Math.max(one, other))));
        for (const id of less ?? []) expect(more.has(id)).toBe(true);
      }),
      { ...RUNS, numRuns: 500 },
    );
  });
});
