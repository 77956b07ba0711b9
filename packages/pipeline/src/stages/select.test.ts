import { describe, expect, it } from "vitest";
import type { ChatMessage } from "../conversation.ts";
import type { Action } from "../settings.ts";
import { aConversation, aMessage, answering, calling } from "../testing/conversation.ts";
import { select } from "./select.ts";

function selecting(messages: readonly ChatMessage[], action: Action = "reply") {
  const { blocks, leftOut } = select({ conversation: aConversation(messages), settings: { action } });
  return {
    blocks,
    sent: blocks.map((block) => block.id),
    out: Object.fromEntries(leftOut.map(({ block, reason }) => [block.id, reason])),
    leftOut,
  };
}

describe("select", () => {
  it("makes the last user message the input and the rest history", () => {
    const { blocks } = selecting([aMessage(1), aMessage(2), aMessage(3)]);
    expect(blocks.map(({ id, source, reason, seq, refId }) => ({ id, source, reason, seq, refId }))).toEqual([
      { id: "msg:m1", source: "history", reason: "history", seq: 1, refId: "m1" },
      { id: "msg:m2", source: "history", reason: "history", seq: 2, refId: "m2" },
      { id: "msg:m3", source: "input", reason: "current_input", seq: 3, refId: "m3" },
    ]);
  });

  it("takes a draft without an id", () => {
    const { blocks } = selecting([aMessage(1, { id: null })]);
    expect(blocks[0]).toMatchObject({ id: "msg:draft", refId: null, source: "input" });
  });

  it("requires system rows of the history, unless an importer marked them optional", () => {
    const { blocks } = selecting([
      aMessage(1, { role: "system" }),
      aMessage(2, { role: "system", optional: true }),
      aMessage(3),
    ]);
    expect(blocks.map(({ required, reason }) => ({ required, reason })).slice(0, 2)).toEqual([
      { required: true, reason: "required" },
      { required: false, reason: "history" },
    ]);
  });

  it("takes out hidden, failed and blank messages with their reasons", () => {
    const { sent, out, leftOut } = selecting([
      aMessage(1, { hidden: true }),
      aMessage(2, { failedPartial: true }),
      aMessage(3, { content: " \n\t" }),
      aMessage(5),
    ]);
    expect(sent).toEqual(["msg:m5"]);
    expect(out).toEqual({ "msg:m1": "hidden", "msg:m2": "disabled", "msg:m3": "empty" });
    expect(leftOut[1]?.reasonDetail).toEqual({ failedPartial: true });
  });

  it("takes the reasoning off the front of replies, and says so; what users and tools wrote is left as it is", () => {
    const replies = [
      aMessage(2, { content: "<think>He is tired.</think>\n\nTake the lake road." }),
      aMessage(4, { content: "The form `<think>…</think>` wraps reasoning." }),
      aMessage(6, { content: "```html\n<think>x</think>\n```" }),
    ];
    const { blocks } = selecting([
      aMessage(1, { content: "<think>x</think> What is that?" }),
      ...replies,
      calling(8, ["c"], { content: "<Thinking>Look it up.</Thinking>" }),
      answering(9, "c", { content: "<think>y</think>" }),
      aMessage(11),
    ]);
    const taken = { reasoningLeftOut: true };
    expect(blocks.slice(0, 6).map(({ content, reasonDetail }) => [content, reasonDetail])).toEqual([
      ["<think>x</think> What is that?", null],
      ["Take the lake road.", taken],
      [replies[1]?.content, null],
      [replies[2]?.content, null],
      ["", taken],
      ["<think>y</think>", null],
    ]);
    expect(replies[0]?.content).toContain("He is tired.");
  });

  it.each(["<think>Hm.</think>\n", "<think>They met and then", "<reasoning>a</reasoning><think>b</think>"])(
    "takes out a reply that is nothing but reasoning (%j)",
    (content) => {
      const { sent, out, leftOut } = selecting([aMessage(1), aMessage(2, { content }), aMessage(3)]);
      expect([sent, out]).toEqual([["msg:m1", "msg:m3"], { "msg:m2": "empty" }]);
      expect(leftOut[0]).toMatchObject({ block: { content: "" }, reasonDetail: { reasoningLeftOut: true } });
    },
  );

  it("keeps an assistant message that has calls and no text, and a blank result", () => {
    const { sent } = selecting([aMessage(1), calling(2, ["c1"]), answering(3, "c1", { content: "" }), aMessage(5)]);
    expect(sent).toEqual(["msg:m1", "msg:m2", "msg:m3", "msg:m5"]);
  });

  it("groups a call with all its results, parallel and not adjacent", () => {
    const { blocks } = selecting([
      aMessage(1),
      calling(2, ["c1", "c2"]),
      answering(3, "c2"),
      aMessage(4, { role: "assistant", content: "One moment." }),
      answering(5, "c1"),
      aMessage(7),
    ]);
    expect(blocks.map((block) => block.groupId)).toEqual([
      null,
      "calls:msg:m2",
      "calls:msg:m2",
      null,
      "calls:msg:m2",
      null,
    ]);
  });

  it("links interleaved calls by id", () => {
    const { blocks } = selecting([
      aMessage(1),
      calling(2, ["c1"]),
      calling(4, ["c2"]),
      answering(5, "c2"),
      answering(6, "c1"),
    ]);
    expect(blocks.map((block) => block.groupId)).toEqual([
      null,
      "calls:msg:m2",
      "calls:msg:m4",
      "calls:msg:m4",
      "calls:msg:m2",
    ]);
  });

  it("gives a result to the nearest call when turns reuse an id", () => {
    const { blocks, out } = selecting([
      aMessage(1),
      calling(2, ["call_0"]),
      answering(3, "call_0"),
      aMessage(5),
      calling(6, ["call_0"]),
      answering(7, "call_0"),
    ]);
    expect(out).toEqual({});
    expect(blocks[2]?.groupId).toBe("calls:msg:m2");
    expect(blocks[5]?.groupId).toBe("calls:msg:m6");
  });

  it("takes out results without a call and surplus results", () => {
    const { sent, out } = selecting([
      aMessage(1),
      answering(2, "ghost"),
      calling(4, ["z1"], { content: "hi" }),
      answering(5, "z1"),
      answering(6, "z1"),
      answering(7, null),
      aMessage(9),
    ]);
    expect(sent).toEqual(["msg:m1", "msg:m4", "msg:m5", "msg:m9"]);
    expect(out).toEqual({
      "msg:m2": "orphan_tool_result",
      "msg:m6": "orphan_tool_result",
      "msg:m7": "orphan_tool_result",
    });
  });

  it("takes out calls that lack results, the newest included, with the results they have", () => {
    const { sent, out, leftOut } = selecting([
      aMessage(1),
      calling(2, ["a", "b"], { pinned: true }),
      answering(3, "a"),
      aMessage(5),
      calling(6, ["c"]),
    ]);
    expect(sent).toEqual(["msg:m1", "msg:m5"]);
    expect(out).toEqual({
      "msg:m2": "incomplete_tool_call",
      "msg:m3": "incomplete_tool_call",
      "msg:m6": "orphan_tool_call",
    });
    expect(new Set(leftOut.slice(0, 2).map(({ block }) => block.groupId)).size).toBe(1);
  });

  it("treats a call whose result is hidden as one without it", () => {
    const { out } = selecting([aMessage(1), calling(2, ["a"]), answering(3, "a", { hidden: true })]);
    expect(out).toEqual({ "msg:m3": "hidden", "msg:m2": "orphan_tool_call" });
  });

  it("sends a call id once when a message carries it twice", () => {
    const { blocks } = selecting([aMessage(1), calling(2, ["a", "a"]), answering(3, "a")]);
    expect(blocks[1]?.toolCalls).toHaveLength(1);
  });

  it("gives pinned messages and their groups the reason pinned", () => {
    const { blocks } = selecting([
      aMessage(1, { pinned: true }),
      calling(2, ["a"], { pinned: true }),
      answering(3, "a"),
      aMessage(5),
    ]);
    expect(blocks.map((block) => block.reason)).toEqual(["pinned", "pinned", "pinned", "current_input"]);
  });

  it("requires the reply that is being continued and trims its end", () => {
    const { blocks } = selecting([aMessage(1), aMessage(2, { content: "Once upon a time \n" })], "continue");
    expect(blocks[1]).toMatchObject({ required: true, reason: "required", content: "Once upon a time" });
    const reasoned = selecting([aMessage(1), aMessage(2, { content: "<think>Hm.</think>Once " })], "continue");
    expect(reasoned.blocks[1]).toMatchObject({ required: true, content: "Once" });
    const plain = selecting([aMessage(1), aMessage(2, { content: "Once upon a time \n" })]);
    expect(plain.blocks[1]).toMatchObject({ required: false, content: "Once upon a time \n" });
  });
});
