import * as fc from "fast-check";
import { buildPrompt } from "../build-prompt.ts";
import type { ChatMessage, Conversation } from "../conversation.ts";
import type { AssemblyReport } from "../prompt.ts";
import type { AssemblySettings } from "../settings.ts";
import { STRATEGIES } from "../shift/registry.ts";
import { aCall, aCharacter, aConversation, aLoreEntry, aLorebook, aMessage, anInput } from "./conversation.ts";

const text = fc
  .oneof(
    {
      weight: 6,
      arbitrary: fc.array(fc.constantFrom("tide", "lamp", "the", "storm", "<|endoftext|>", "<|im_end|>", "海"), {
        maxLength: 30,
      }),
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

/** Chats with everything a prompt is made of. */
export const conversations: fc.Arbitrary<Conversation> = fc
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

/** Small windows, so that much has to leave; every strategy. */
export const settings: fc.Arbitrary<Partial<AssemblySettings>> = fc.record({
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

/** A prompt of it, with a cut from an earlier turn and a summariser at hand. */
export function assembled(conversation: Conversation, chosen: Partial<AssemblySettings>): Promise<AssemblyReport> {
  const summariser = { id: "fake", contextLimit: null, summarise: () => Promise.resolve("The tide turned.") };
  const input = { ...anInput(conversation, chosen), anchorId: "m9", summariser };
  return buildPrompt(input, new AbortController().signal);
}
