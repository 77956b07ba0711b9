import { describe, expect, it } from "vitest";
import { aBlock, aCall, chatOf, theSettings, theWire } from "../testing/conversation.ts";
import { validateChatRequest } from "../wire/validate.ts";
import { replyTokens, serialize } from "./serialize.ts";

const budget = { contextLimit: 1_000, reservedForReply: 250, margin: 0, budgetTokens: 750 };

function serializing(blocks: Parameters<typeof serialize>[0]["blocks"], settings = theSettings()) {
  const serialized = serialize({ blocks, wire: theWire(settings), settings, budget, overheadTokens: 3 });
  return { ...serialized, request: chatOf(serialized.request) };
}

describe("serialize", () => {
  it("makes one message of each block and the whole body as it is sent", () => {
    const { request } = serializing([
      aBlock("a", { role: "system", content: "Be kind." }),
      aBlock("b", { content: "Hi" }),
    ]);
    expect(request).toEqual({
      model: "gpt-4o",
      messages: [
        { role: "system", content: "Be kind." },
        { role: "user", content: "Hi" },
      ],
      max_tokens: 250,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it("sends samplers under their wire names and extra parameters without letting them override the body", () => {
    const parameters = {
      temperature: 0.5,
      topP: 0.9,
      frequencyPenalty: 0.1,
      presencePenalty: 0.2,
      stop: ["\nMax:"],
      seed: 7,
      extra: { logit_bias: { "1": 2 }, model: "other", messages: [], stream: false },
    };
    const tools = [{ name: "lookup", description: null, parameters: { type: "object" } }];
    const { request } = serializing([aBlock("b", { content: "Hi" })], theSettings({ parameters, tools }));
    expect(request).toMatchObject({
      model: "gpt-4o",
      messages: [{ role: "user", content: "Hi" }],
      temperature: 0.5,
      top_p: 0.9,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      stop: ["\nMax:"],
      seed: 7,
      logit_bias: { "1": 2 },
      stream: true,
      tools: [{ type: "function", function: { name: "lookup", parameters: { type: "object" } } }],
    });
  });

  it("sends at most four stop strings, each once, none when there is none, and names those left out", () => {
    const stopping = (stop: readonly string[]) => serializing([aBlock("b")], theSettings({ parameters: { stop } }));
    const { request, diagnostics } = stopping(["a", "b", "a", "c", "d", "e", "f"]);
    expect(request["stop"]).toEqual(["a", "b", "c", "d"]);
    expect(diagnostics.map(({ detail }) => detail)).toEqual([
      { repair: "stop_string_left_out", count: 2, blockIds: [], texts: ["e", "f"] },
    ]);
    expect("stop" in stopping([]).request).toBe(false);
  });

  it("puts results directly behind their call, and the blocks in the same order", () => {
    const blocks = [
      aBlock("u1"),
      aBlock("a1", { role: "assistant", content: "", toolCalls: [aCall("n1")], groupId: "g" }),
      aBlock("a2", { role: "assistant", content: "one moment" }),
      aBlock("t1", { role: "tool", toolCallId: "n1", groupId: "g" }),
      aBlock("u2"),
    ];
    const { request, sent, diagnostics } = serializing(blocks);
    expect(sent.map(({ id }) => id)).toEqual(["u1", "a1", "t1", "a2", "u2"]);
    expect(request.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "user"]);
    expect(request.messages[1]?.content).toBeNull();
    expect(validateChatRequest(request)).toEqual([]);
    expect(diagnostics).toEqual([
      { code: "wire_repair", stage: "serialize", detail: { repair: "results_moved", count: 1, blockIds: ["t1"] } },
    ]);
  });

  it("repairs what an endpoint would refuse and says so, once per kind", () => {
    const blocks = [
      aBlock("u1", { name: "Mary Ann" }),
      aBlock("u2", { name: "Мария" }),
      aBlock("u3", { name: "Anna B" }),
      aBlock("a1", { role: "assistant", content: " ", toolCalls: [{ ...aCall("c"), arguments: "" }], groupId: "g" }),
      aBlock("t1", { role: "tool", content: "", toolCallId: "c", groupId: "g" }),
      aBlock("u4", { content: "broken \uD800 pair" }),
    ];
    const { request, diagnostics } = serializing(blocks);
    expect(validateChatRequest(request)).toEqual([]);
    expect(request.messages.map(({ name }) => name)).toEqual(["Mary_Ann", undefined, "Anna_B", ...Array(3)]);
    const repairs = diagnostics.map(({ detail }) => [detail["repair"], detail["count"]]);
    expect(repairs).toEqual([
      ["name_sanitised", 2],
      ["name_dropped", 1],
      ["blank_arguments_filled", 1],
      ["blank_result_filled", 1],
      ["ill_formed_text_replaced", 1],
    ]);
  });

  it("repairs nothing in a valid history", () => {
    const blocks = [
      aBlock("u1", { name: "Max" }),
      aBlock("a1", { role: "assistant", content: "", toolCalls: [aCall("c")], groupId: "g" }),
      aBlock("t1", { role: "tool", toolCallId: "c", groupId: "g" }),
    ];
    const { sent, diagnostics } = serializing(blocks);
    expect(sent).toBe(blocks);
    expect(diagnostics).toEqual([]);
  });
});

describe("replyTokens", () => {
  it("is what was asked for, within what the window leaves", () => {
    const asked = (maxTokens: number) => theSettings({ parameters: { maxTokens } });
    expect(replyTokens(theSettings(), budget, 700)).toBe(250);
    expect(replyTokens(asked(100), budget, 700)).toBe(100);
    expect(replyTokens(asked(900), budget, 700)).toBe(300);
    expect(replyTokens(asked(900), { ...budget, margin: 50 }, 700)).toBe(250);
  });
});
