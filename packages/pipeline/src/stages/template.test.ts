import { describe, expect, it } from "vitest";
import { aBlock } from "../testing/conversation.ts";
import { template } from "./template.ts";

describe("template", () => {
  const blocks = [
    aBlock("msg:m1"),
    aBlock("msg:m2", { source: "input" }),
    aBlock("system:post_history", { source: "system" }),
    aBlock("mem:1", { source: "memory" }),
    aBlock("example:1", { source: "example", groupId: "examples:1" }),
    aBlock("example:2", { source: "example", groupId: "examples:1" }),
    aBlock("lore:after", { source: "lorebook", reasonDetail: { position: "after_character" } }),
    aBlock("character:scenario", { source: "character" }),
    aBlock("character:personality", { source: "character" }),
    aBlock("character:description", { source: "character" }),
    aBlock("persona:description", { source: "persona" }),
    aBlock("lore:before1", { source: "lorebook", reasonDetail: { position: "before_character" } }),
    aBlock("lore:before2", { source: "lorebook", reasonDetail: { position: "before_character" } }),
    aBlock("system:main", { source: "system" }),
  ];

  it("puts every part where the default order says", () => {
    expect(template({ blocks }).blocks.map((block) => block.id)).toEqual([
      "system:main",
      "lore:before1",
      "lore:before2",
      "persona:description",
      "character:description",
      "character:personality",
      "character:scenario",
      "lore:after",
      "example:1",
      "example:2",
      "mem:1",
      "msg:m1",
      "msg:m2",
      "system:post_history",
    ]);
  });

  it("leaves blank blocks out as empty, but not calls and results", () => {
    const call = aBlock("msg:m3", {
      role: "assistant",
      content: "",
      toolCalls: [{ id: "c", name: "f", arguments: "{}" }],
    });
    const result = aBlock("msg:m4", { role: "tool", content: "", toolCallId: "c" });
    const blank = aBlock("persona:description", { source: "persona", content: " \n" });
    const { blocks: ordered, leftOut } = template({ blocks: [blank, call, result] });
    expect(ordered).toEqual([call, result]);
    expect(leftOut).toMatchObject([{ block: { id: "persona:description" }, reason: "empty", stage: "template" }]);
  });
});
