import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messagesOfBlocks } from "./audit/audit-blocks.ts";
import { buildPrompt } from "./build-prompt.ts";
import type { ChatMessage, Conversation } from "./conversation.ts";
import type { AssemblyReport, ChatRequest } from "./prompt.ts";
import type { AssemblySettings } from "./settings.ts";
import { STRATEGIES } from "./shift/registry.ts";
import { countRequest } from "./stages/verify.ts";
import { aCall, aCharacter, aConversation, aLoreEntry, aLorebook, aMessage, anInput } from "./testing/conversation.ts";
import { createCounter } from "./tokens/counter.ts";
import { profileFor } from "./tokens/profiles.ts";
import { validateChatRequest } from "./wire/validate.ts";

const RUNS = { seed: 20_260_102, numRuns: 200 };
const signal = new AbortController().signal;

const text = fc
  .oneof(
    {
      weight: 6,
      arbitrary: fc.array(fc.constantFrom("tide", "lamp", "the", "storm", "<|endoftext|>", "海"), { maxLength: 30 }),
    },
    { weight: 1, arbitrary: fc.array(fc.string({ unit: "binary", maxLength: 12 }), { maxLength: 3 }) },
  )
  .map((words) => words.join(" "));

const callIds = fc.constantFrom("c0", "c1", "c2", "c3", "");
const rare = fc.integer({ min: 0, max: 11 }).map((roll) => roll === 0);

/** Rows as imports and agents leave them: parallel, interleaved, unanswered and surplus calls, blanks, pins, hidden rows. */
const messages: fc.Arbitrary<readonly ChatMessage[]> = fc
  .array(
    fc.record({
      kind: fc.constantFrom("user", "assistant", "calls", "result", "result", "system"),
      content: text,
      ids: fc.array(callIds, { minLength: 1, maxLength: 3 }),
      name: fc.option(fc.constantFrom("Max", "Mary Ann", "Мария", "x".repeat(90))),
      pinned: rare,
      hidden: rare,
      optional: rare,
      failedPartial: rare,
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map((rows) =>
    rows.map(({ kind, content, ids, name, pinned, hidden, optional, failedPartial }, index) => {
      const flags = { content, name, pinned, hidden, optional, failedPartial };
      const system = kind === "system" ? "system" : "user";
      if (kind === "result") return aMessage(index, { ...flags, role: "tool", toolCallId: ids[0] ?? null });
      if (kind === "calls")
        return aMessage(index, { ...flags, role: "assistant", toolCalls: ids.map((id) => aCall(id)) });
      return aMessage(index, { ...flags, role: kind === "assistant" ? "assistant" : system });
    }),
  );

const conversations: fc.Arbitrary<Conversation> = fc
  .record({
    messages,
    lore: fc.array(fc.record({ content: text, constant: fc.boolean(), key: fc.constantFrom("tide", "lamp", "none") }), {
      maxLength: 5,
    }),
    memories: fc.array(fc.record({ content: text, pinned: rare, source: fc.option(fc.integer({ min: 0, max: 30 })) }), {
      maxLength: 5,
    }),
    examples: fc.constantFrom("", "<START>\n{{user}}: Hi\n{{char}}: Hello\n<START>\n{{user}}: Bye\n{{char}}: Farewell"),
    withCharacter: fc.boolean(),
  })
  .map(({ messages: branch, lore, memories, examples, withCharacter }) =>
    aConversation(branch, {
      character: withCharacter
        ? aCharacter({ messageExamples: examples, postHistoryInstructions: "Stay calm." })
        : null,
      lorebooks: [
        aLorebook(
          lore.map(({ content, constant, key }, uid) =>
            aLoreEntry(`l${uid}`, { uid, content, constant, keys: [key], required: false }),
          ),
        ),
      ],
      memories: memories.map(({ content, pinned, source }, index) => ({
        id: `k${index}`,
        content,
        pinned,
        sourceMessageId: source === null ? null : `m${source}`,
        createdAt: `2026-01-0${index + 1}T00:00:00Z`,
      })),
    }),
  );

const settings: fc.Arbitrary<Partial<AssemblySettings>> = fc.record({
  model: fc.constantFrom("gpt-4o", "gpt-4", "claude-sonnet-4"),
  modelFacts: fc.constant({ contextLimit: null, maxOutputTokens: null }),
  budget: fc.record({
    contextLimit: fc.integer({ min: 60, max: 1_500 }),
    reservedForReply: fc.constantFrom(10, 40),
  }),
  parameters: fc.constantFrom({}, { maxTokens: 50 }),
  contextStrategy: fc.constantFrom("truncate", ...Object.keys(STRATEGIES)),
  strategyOptions: fc.constantFrom({}, { examples: "last" }, { lowWater: 0.6 }, { summaryTokens: 60 }),
  action: fc.constantFrom("reply" as const, "continue" as const, "regenerate" as const),
  tools: fc.constantFrom([], [{ name: "lookup", description: null, parameters: {} }]),
});

const summariser = { id: "fake", contextLimit: null, summarise: () => Promise.resolve("The tide turned.") };
const assembled = (conversation: Conversation, chosen: Partial<AssemblySettings>): Promise<AssemblyReport> =>
  buildPrompt({ ...anInput(conversation, chosen), anchorId: "m9", summariser }, signal);

const checking = (
  check: (report: AssemblyReport, conversation: Conversation, chosen: Partial<AssemblySettings>) => void,
) =>
  fc.assert(
    fc.asyncProperty(conversations, settings, async (conversation, chosen) => {
      check(await assembled(conversation, chosen), conversation, chosen);
    }),
    RUNS,
  );

/** As `checking`, for the reports that hold a request; says how many there were, so that a check cannot be vacuous. */
async function checkingRequests(
  check: (report: AssemblyReport & { readonly request: ChatRequest }) => void,
): Promise<number> {
  let seen = 0;
  await checking((report) => {
    const { request } = report;
    if (request === null) return;
    seen += 1;
    check({ ...report, request });
  });
  return seen;
}

describe("any conversation, any budget", () => {
  it("every considered block stands in exactly one of kept and left out", async () => {
    await checking(({ blocks, counts }, conversation) => {
      const ids = blocks.map((block) => block.id);
      expect(new Set(ids).size).toBe(ids.length);
      const considered = [
        ...conversation.messages.map((message) => `msg:${message.id}`),
        ...conversation.lorebooks.flatMap((book) => book.entries.map((entry) => `lore:${entry.id}`)),
        ...conversation.memories.map((memory) => `mem:${memory.id}`),
      ];
      for (const id of considered) expect(ids.filter((other) => other === id)).toHaveLength(1);
      expect(counts.included + counts.excluded + counts.summarised + 1).toBe(blocks.length);
    });
  });

  it("no request holds an orphan or anything else an endpoint refuses", async () => {
    const seen = await checkingRequests(({ request }) => expect(validateChatRequest(request)).toEqual([]));
    expect(seen).toBeGreaterThan(RUNS.numRuns / 2);
  });

  it("counted = sent ≤ budget, and the reply fits beside it", async () => {
    const seen = await checkingRequests(({ request, budget, blocks, error }) => {
      expect(error).toBeNull();
      const sum = blocks.filter(({ included }) => included).reduce((total, { tokens }) => total + (tokens ?? 0), 0);
      expect(countRequest(createCounter(profileFor(request.model)), request)).toBe(budget.promptTokens);
      expect(sum).toBe(budget.promptTokens);
      expect(sum).toBeLessThanOrEqual(budget.budgetTokens);
      expect(sum + request.max_tokens).toBeLessThanOrEqual(budget.contextLimit);
    });
    expect(seen).toBeGreaterThan(RUNS.numRuns / 2);
  });

  it("included rows in order are the messages of the request", async () => {
    const seen = await checkingRequests(({ request, blocks }) =>
      expect(messagesOfBlocks(blocks)).toEqual(request.messages),
    );
    expect(seen).toBeGreaterThan(RUNS.numRuns / 2);
  });

  it("there is no request exactly when there is an error", async () => {
    await checking(({ request, error, assemblyHash }) => {
      expect(request === null).toBe(error !== null);
      expect(assemblyHash === null).toBe(error !== null);
    });
  });

  it("groups stay or leave whole, with one reason", async () => {
    await checking(({ blocks }) => {
      const groups = new Map<string, Set<string>>();
      for (const { groupId, included, reason } of blocks) {
        if (groupId === null) continue;
        // A shortened result says so; its group says why it is there.
        const why = reason === "truncated" ? "" : reason;
        groups.set(groupId, (groups.get(groupId) ?? new Set()).add(`${included} ${why}`));
      }
      for (const outcomes of groups.values()) {
        outcomes.delete("true ");
        expect(outcomes.size).toBe(1);
      }
    });
  });

  it("a memory is never sent beside the message it came from, unless pinned", async () => {
    await checking(({ blocks }, { memories }) => {
      const sent = new Set(blocks.filter(({ order }) => order !== null).map(({ id }) => id));
      const beside = memories.filter(
        ({ id, sourceMessageId, pinned }) => !pinned && sent.has(`mem:${id}`) && sent.has(`msg:${sourceMessageId}`),
      );
      expect(beside).toEqual([]);
    });
  });

  it("equal inputs give equal reports", async () => {
    await fc.assert(
      fc.asyncProperty(conversations, settings, async (conversation, chosen) => {
        const first = await assembled(conversation, chosen);
        expect(await assembled(structuredClone(conversation), chosen)).toEqual(first);
      }),
      { ...RUNS, numRuns: 60 },
    );
  });

  it("no stage changes its input", async () => {
    await fc.assert(
      fc.asyncProperty(conversations, settings, async (conversation, chosen) => {
        const before = structuredClone(conversation);
        await assembled(deepFreeze(conversation), chosen);
        expect(conversation).toEqual(before);
      }),
      { ...RUNS, numRuns: 60 },
    );
  });
});

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const member of Object.values(value)) deepFreeze(member);
    Object.freeze(value);
  }
  return value;
}
