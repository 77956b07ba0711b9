import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildPrompt } from "./build-prompt.ts";
import type { Memory } from "./conversation.ts";
import type { AuditBlock } from "./prompt.ts";
import { shiftContext } from "./shift/shift-context.ts";
import { aConversation, aMessage, anInput, chatReport } from "./testing/conversation.ts";

// Whole kinds of the reported failures of recall: mem-02 (the assembled text is sliced and memories, standing late, are
// always lost) and mem-04 (many memories overflow the window instead of giving way).

interface Listed {
  readonly id: string;
  readonly role: string;
  readonly content: string;
  readonly source?: "memory";
  readonly relevance?: number;
  readonly tok: number;
}

const tokens = fc.integer({ min: 1, max: 60 });
// Few steps, so that ties are common.
const memories = fc.array(fc.record({ relevance: fc.integer({ min: 0, max: 4 }), tok: tokens }), { maxLength: 12 });
const history = fc.array(tokens, { maxLength: 8 });

function listOf(recalled: readonly { relevance: number; tok: number }[], spoken: readonly number[]): readonly Listed[] {
  const system: Listed = { id: "s", role: "system", content: "Be brief.", tok: 10 };
  const shelf = recalled.map(({ relevance, tok }, index): Listed => {
    const id = `m${String(index).padStart(2, "0")}`;
    return { id, role: "system", content: `Memory ${index}.`, source: "memory", relevance: relevance / 4, tok };
  });
  const said = spoken.map((tok, index): Listed => {
    const role = index % 2 === 0 ? "user" : "assistant";
    return { id: `h${index}`, role, content: `Said ${index}.`, tok };
  });
  return [system, ...shelf, ...said, { id: "u", role: "user", content: "And now?", tok: 10 }];
}

const costOf = (message: object): number => ("tok" in message ? Number(message.tok) : 0);
const recall = (list: readonly Listed[], budget: number) =>
  shiftContext(list, costOf, budget, { strategy: "vector-recall", strategyOptions: { shorten: false } });

describe("recalled memories that are too many", () => {
  it("give way one by one, least relevant first, ties by id, before history does, and nothing is cut", () => {
    fc.assert(
      fc.property(memories, history, fc.integer({ min: 20, max: 700 }), (recalled, spoken, budget) => {
        const list = listOf(recalled, spoken);
        const { kept, excluded, truncated } = recall(list, budget);
        const ids = excluded.map(({ message }) => message.id);
        const order = list
          .filter(({ source }) => source === "memory")
          .toSorted((a, b) => (a.relevance ?? 0) - (b.relevance ?? 0) || (a.id < b.id ? -1 : 1))
          .map(({ id }) => id);
        const leftShelf = ids.filter((id) => id.startsWith("m"));
        expect(leftShelf).toEqual(order.slice(0, leftShelf.length));
        if (ids.some((id) => id.startsWith("h"))) expect(leftShelf).toEqual(order);
        expect(kept.reduce((sum, message) => sum + costOf(message), 0)).toBeLessThanOrEqual(budget);
        expect(truncated).toEqual([]);
        expect(kept.every((message) => list.includes(message as Listed))).toBe(true);
        expect([...kept.map((message) => (message as Listed).id), ...ids].toSorted()).toEqual(
          list.map(({ id }) => id).toSorted(),
        );
      }),
      { seed: 4 },
    );
  });

  it("stay when they are worth more than what could be saved: one more leaves only when the rest does not fit", () => {
    fc.assert(
      fc.property(memories, history, fc.integer({ min: 20, max: 700 }), (recalled, spoken, budget) => {
        const list = listOf(recalled, spoken);
        const { kept, excluded } = recall(list, budget);
        const last = excluded.at(-1)?.message;
        if (last === undefined) return;
        const total = kept.reduce((sum, message) => sum + costOf(message), 0);
        expect(total + costOf(last)).toBeGreaterThan(budget);
      }),
      { seed: 4 },
    );
  });
});

const WORDS = ["sword", "shield", "dragon", "castle", "harbour", "龙王", "дракон"];
const sentence = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 30 }).map((words) => words.join(" "));

/** Memories as they come from a chat: any text, some pinned. */
const stored = fc
  .array(fc.record({ content: sentence, pinned: fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0) }), {
    maxLength: 12,
  })
  .map((rows) =>
    rows.map((row, index): Memory => ({
      ...row,
      id: `r${index}`,
      sourceMessageId: null,
      createdAt: `2026-01-01T00:00:${String(index).padStart(2, "0")}Z`,
    })),
  );

describe("a memory in the audit", () => {
  it("is what the model read, whole, or is left out with a reason and the scores that decided it", async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(stored, sentence, fc.integer({ min: 200, max: 1_200 }), async (rows, question, contextLimit) => {
        const earlier = Array.from({ length: 12 }, (_, index) =>
          aMessage(index + 1, { content: "The tide turned. ".repeat(8) }),
        );
        const messages = [...earlier, aMessage(13, { content: question })];
        const conversation = aConversation(messages, { memories: rows });
        const settings = { contextStrategy: "vector-recall", budget: { contextLimit, reservedForReply: 50 } };
        const report = chatReport(await buildPrompt(anInput(conversation, settings), new AbortController().signal));
        if (report.request === null) return;
        const sent = new Set(report.request.messages.map(({ content }) => content));
        for (const { reason } of report.blocks) seen.add(reason);
        const verdicts = report.blocks.filter(({ source }) => source === "memory");
        expect(verdicts.length).toBe(rows.length);
        for (const verdict of verdicts) {
          const content = rows.find(({ id }) => id === verdict.refId)?.content;
          if (verdict.included) expect(sent.has(content ?? "")).toBe(true);
          expect(verdict.reason).not.toBe("");
          expect(scoresOf(verdict)).toEqual([expect.any(Number), expect.anything(), expect.anything()]);
        }
      }),
      { seed: 9, numRuns: 60 },
    );
    for (const reason of ["memory_relevant", "memory_budget_exceeded", "shift_low_relevance"])
      expect(seen).toContain(reason);
  });
});

/** The score, and both of its parts as text: `null` where a ranking does not hold it. */
function scoresOf({ reasonDetail }: AuditBlock): readonly unknown[] {
  const { score, words, meaning } = reasonDetail ?? {};
  return [score, JSON.stringify(words), JSON.stringify(meaning)];
}
