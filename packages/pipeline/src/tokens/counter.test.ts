import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChatRequestMessage } from "../prompt.ts";
import { countMessage, countOverhead, createCounter } from "./counter.ts";
import { profileFor } from "./profiles.ts";

const profile = profileFor("gpt-4o");

describe("countMessage", () => {
  it("is framing + role + text, with name, call and result parts on top", () => {
    const text = profile.countText("hello");
    const plain: ChatRequestMessage = { role: "user", content: "hello" };
    expect(countMessage(profile, plain)).toBe(3 + 1 + text);
    expect(countMessage(profile, { ...plain, name: "Max" })).toBe(3 + 1 + text + 1 + profile.countText("Max"));
    expect(countMessage(profile, { role: "tool", content: "hello", tool_call_id: "call_1" })).toBeGreaterThan(
      3 + 1 + text,
    );
  });

  it("counts a call's id, name and arguments", () => {
    const calling = (id: string, name: string, args: string): ChatRequestMessage => ({
      role: "assistant",
      content: null,
      tool_calls: [{ id, type: "function", function: { name, arguments: args } }],
    });
    const base = countMessage(profile, calling("c", "f", "{}"));
    expect(countMessage(profile, calling("call_with_a_long_id_123456", "f", "{}"))).toBeGreaterThan(base);
    expect(countMessage(profile, calling("c", "a_function_with_a_long_name", "{}"))).toBeGreaterThan(base);
    expect(countMessage(profile, calling("c", "f", '{"city":"Reykjavík, the old harbour"}'))).toBeGreaterThan(base);
  });

  it("costs something for any message, so adding one never lowers a total", () => {
    const message = fc.record({
      role: fc.constantFrom("system" as const, "user" as const, "assistant" as const, "tool" as const),
      content: fc.option(fc.string({ unit: "binary", maxLength: 60 })),
    });
    fc.assert(
      fc.property(message, (one) => countMessage(profile, one) > 0),
      { seed: 2, numRuns: 300 },
    );
  });
});

describe("createCounter", () => {
  it("tokenises a text once", () => {
    let counted = 0;
    const counter = createCounter({
      ...profile,
      countText: (text) => {
        counted += 1;
        return profile.countText(text);
      },
    });
    counter.countText("the same text");
    counter.countText("the same text");
    expect(counted).toBe(1);
  });
});

describe("countOverhead", () => {
  it("is priming alone without tools and grows with every schema", () => {
    const counter = createCounter(profile);
    const tool = { type: "function", function: { name: "lookup", parameters: { type: "object" } } } as const;
    expect(countOverhead(counter, [])).toBe(3);
    expect(countOverhead(counter, [tool])).toBeGreaterThan(3 + 8);
    expect(countOverhead(counter, [tool, tool])).toBeGreaterThan(countOverhead(counter, [tool]));
  });
});
