import { describe, expect, it } from "vitest";
import type { ChatRequest } from "../prompt.ts";
import { chatOf } from "../testing/conversation.ts";
import { createCounter } from "../tokens/counter.ts";
import { profileFor } from "../tokens/profiles.ts";
import { countRequest, verify, type Attempt } from "./verify.ts";

const body = (words: number): ChatRequest => ({
  model: "gpt-4o",
  messages: [{ role: "user", content: "word ".repeat(words).trim() }],
  max_tokens: 10,
});

/** A prompt that can be cut down to any size, and a count that is its number of words. */
function verifying(words: number, budgetTokens: number, shrinksTo: (budget: number) => number | null) {
  const budgets: number[] = [];
  const result = verify<Attempt>({
    attempt: { request: body(words) },
    budgetTokens,
    count: (request) => (chatOf(request).messages[0]?.content ?? "").split(" ").length,
    again: (_attempt, lowered) => {
      budgets.push(lowered);
      const next = shrinksTo(lowered);
      return { request: next === null ? null : body(next) };
    },
  });
  return { ...result, budgets };
}

describe("verify", () => {
  it("accepts a payload that is within the budget at the first count", () => {
    expect(verifying(10, 10, () => 0)).toMatchObject({ fits: true, promptTokens: 10, budgets: [] });
  });

  it("lowers the budget by the excess and counts again", () => {
    expect(verifying(15, 10, (budget) => budget)).toMatchObject({ fits: true, promptTokens: 5, budgets: [5] });
  });

  it("corrects at most twice, then lets nothing leave", () => {
    expect(verifying(15, 10, () => 14)).toMatchObject({ fits: false, promptTokens: 14, budgets: [5, 1] });
    expect(verifying(15, 10, (budget) => (budget === 5 ? 12 : 9))).toMatchObject({ fits: true, budgets: [5, 3] });
  });

  it("lets nothing leave when the lowered budget cannot be met", () => {
    expect(verifying(15, 10, () => null)).toMatchObject({ fits: false, promptTokens: null });
  });

  it("throws on a payload that a provider would refuse", () => {
    const request: ChatRequest = { ...body(1), messages: [{ role: "tool", content: "7", tool_call_id: "ghost" }] };
    const check = () => verify({ attempt: { request }, budgetTokens: 10, count: () => 1, again: (attempt) => attempt });
    expect(check).toThrow(/result without its call/);
  });
});

describe("countRequest", () => {
  it("counts messages, priming and tool schemas from the payload alone", () => {
    const counter = createCounter(profileFor("gpt-4o"));
    const request = body(1);
    const tools = [{ type: "function", function: { name: "f", parameters: {} } }];
    expect(countRequest(counter, request)).toBe(3 + 5);
    expect(countRequest(counter, { ...request, tools })).toBeGreaterThan(3 + 5 + 8);
  });

  it("counts pass-through parameters that carry text, and no sampler", () => {
    const counter = createCounter(profileFor("gpt-4o"));
    const plain = countRequest(counter, body(1));
    expect(countRequest(counter, { ...body(1), top_k: 40, stop: ["a", "b"], stream_options: {} })).toBe(plain);
    const schema = {
      type: "json_schema",
      json_schema: { name: "reply", schema: { description: "word ".repeat(200) } },
    };
    expect(countRequest(counter, { ...body(1), response_format: schema })).toBeGreaterThan(plain + 200);
  });
});
