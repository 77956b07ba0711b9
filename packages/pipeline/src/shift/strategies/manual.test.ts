import { describe, expect, it } from "vitest";
import { aBlock, aCall } from "../../testing/conversation.ts";
import { shiftNow } from "../../testing/shifting.ts";
import { manual } from "./manual.ts";
import { truncate } from "./truncate.ts";

const marked = { manualExcluded: true };
const blocks = [
  aBlock("h1"),
  aBlock("call", { role: "assistant", toolCalls: [aCall("c")], groupId: "g" }),
  aBlock("result", { role: "tool", toolCallId: "c", groupId: "g", ...marked }),
  aBlock("h2", marked),
  aBlock("pinned", { pinned: true, ...marked }),
  aBlock("input", { source: "input", ...marked }),
];

describe("manual", () => {
  it("lets marked messages leave with their groups, even when everything fits; protection wins", () => {
    const { kept, excluded } = shiftNow(manual, { blocks, budgetTokens: 1_000 });
    expect(kept.map(({ id }) => id)).toEqual(["h1", "pinned", "input"]);
    expect(excluded.map(({ block, reason }) => [block.id, reason])).toEqual([
      ["call", "manual_excluded"],
      ["result", "manual_excluded"],
      ["h2", "manual_excluded"],
    ]);
  });

  it("then goes on as truncate", () => {
    const { excluded } = shiftNow(manual, { blocks, budgetTokens: 20 });
    expect(excluded.map(({ block }) => block.id)).toEqual(["call", "result", "h2", "h1"]);
  });

  it("is the only strategy that reads the mark", () => {
    expect(shiftNow(truncate, { blocks, budgetTokens: 1_000 }).excluded).toEqual([]);
  });
});
