import { describe, expect, it } from "vitest";
import { buildPrompt } from "./build-prompt.ts";
import type { ChatMessage } from "./conversation.ts";
import { aCharacter, aConversation, aMessage, anInput } from "./testing/conversation.ts";
import { PROFILES } from "./tokens/profiles.ts";

const WIRE = { shape: "text", format: "chatml" } as const;

function building(messages: readonly ChatMessage[], contextLimit: number, model = "gpt-4o") {
  const conversation = aConversation(messages, { character: aCharacter({ postHistoryInstructions: "Stay calm." }) });
  const budget = { contextLimit, reservedForReply: 20 };
  const input = anInput(conversation, { wire: WIRE, budget, model });
  return buildPrompt(input, new AbortController().signal);
}

const exactly = (text: unknown): number => PROFILES["openai:o200k_base"].countText(String(text));
const history = Array.from({ length: 60 }, (_, at) =>
  aMessage(at + 1, { content: `Day ${at}: the keeper counts the bells; "${at % 3}" of them answer…\n- none since.` }),
);

describe("defects seen elsewhere, in text mode", () => {
  it("what is reported is what is sent, at every limit (305 tokens reported of a limit of 400, 501 sent)", async () => {
    for (let contextLimit = 300; contextLimit <= 1_500; contextLimit += 50) {
      const { request, budget, counts } = await building(history, contextLimit);
      expect(exactly(request?.["prompt"])).toBe(budget.promptTokens);
      expect(budget.promptTokens).toBeLessThanOrEqual(contextLimit - 20);
      expect(counts.excluded).toBeGreaterThan(0);
    }
  });

  it("uses the window: the sum of upper bounds leaves less than one message unused", async () => {
    const { budget, counts } = await building(history, 1_000);
    expect(counts.included).toBeGreaterThan(10);
    expect(budget.promptTokens).toBeGreaterThan(budget.budgetTokens - 120);
  });

  it("an estimated count has its margin here as well", async () => {
    const { request, budget } = await building(history, 1_000, "some-local-model");
    expect(budget.margin).toBe(50);
    expect(PROFILES["estimate:generic"].countText(String(request?.["prompt"]))).toBe(budget.promptTokens);
    expect(budget.promptTokens).toBeGreaterThanOrEqual(exactly(request?.["prompt"]) * 1.25);
    expect((budget.promptTokens ?? 0) + (request?.max_tokens ?? 0)).toBeLessThanOrEqual(1_000 - 50);
  });

  it("protected context over the budget sends nothing and lists what is too large", async () => {
    const { request, error, blocks } = await building([aMessage(1, { content: "word ".repeat(500) })], 300);
    expect(request).toBeNull();
    expect(error).toMatchObject({ code: "TOKEN_BUDGET_EXCEEDED", budgetTokens: 280 });
    expect(error?.largest[0]?.blockId).toBe("msg:m1");
    expect(blocks.find(({ id }) => id === "msg:m1")?.content).toContain("word word");
  });
});
