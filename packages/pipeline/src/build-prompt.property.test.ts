import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { messagesOfBlocks } from "./audit/messages-of-blocks.ts";
import type { Conversation } from "./conversation.ts";
import type { AssemblyReport, ChatRequest } from "./prompt.ts";
import type { AssemblySettings } from "./settings.ts";
import { countRequest } from "./stages/verify.ts";
import { chatReport } from "./testing/conversation.ts";
import { assembled, conversations, settings } from "./testing/conversations.ts";
import { createCounter } from "./tokens/counter.ts";
import { profileFor } from "./tokens/profiles.ts";
import { validateChatRequest } from "./wire/validate.ts";

const RUNS = { seed: 20_260_102, numRuns: 200 };

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
    const { request } = chatReport(report);
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
