import { describe, expect, it } from "vitest";
import type { ChatRequest, ChatRequestMessage } from "../prompt.ts";
import { validateChatRequest } from "./validate.ts";

const call = (id: string) => ({ id, type: "function" as const, function: { name: "lookup", arguments: "{}" } });
const user: ChatRequestMessage = { role: "user", content: "hi" };
const calls = (...ids: string[]): ChatRequestMessage => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map(call),
});
const result = (id: string): ChatRequestMessage => ({ role: "tool", content: "7", tool_call_id: id });

function problems(messages: readonly ChatRequestMessage[], part: Partial<ChatRequest> = {}): readonly string[] {
  return validateChatRequest({ model: "gpt-4o", max_tokens: 1, ...part, messages });
}

describe("validateChatRequest", () => {
  it("accepts calls followed by exactly their results, in any order", () => {
    expect(problems([user, calls("a", "b"), result("b"), result("a"), user])).toEqual([]);
  });

  it.each<[string, readonly ChatRequestMessage[]]>([
    ["result without its call", [user, result("ghost")]],
    ["result without its call", [calls("a"), result("a"), result("a")]],
    ["calls before it lack results", [calls("a", "b"), result("a"), user]],
    ["calls before it lack results", [calls("a"), { role: "assistant", content: "one moment" }, result("a")]],
    ["the last calls lack results", [user, calls("a")]],
    ["blank text", [{ role: "user", content: " \n" }]],
    ["null text without calls", [{ role: "assistant", content: null }]],
    ["ill-formed text", [{ role: "user", content: "\uDC00" }]],
    ["name not allowed", [{ ...user, name: "Mary Ann" }]],
    ["name not allowed", [{ ...user, name: "x".repeat(65) }]],
    ["call id twice", [calls("a", "a"), result("a")]],
    ["blank call id", [calls(""), result("")]],
    ["empty call list", [{ role: "assistant", content: "x", tool_calls: [] }]],
    ["calls on another role", [{ ...calls("a"), role: "user" }, result("a")]],
    ["tool_call_id on another role", [{ ...user, tool_call_id: "a" }]],
    ["messages: none", []],
  ])("finds: %s", (problem, messages) => {
    expect(problems(messages).join("; ")).toContain(problem);
  });

  it("finds an answer limit that is no positive whole number", () => {
    for (const max_tokens of [0, -1, 1.5, Number.NaN]) expect(problems([user], { max_tokens })).toHaveLength(1);
  });
});
