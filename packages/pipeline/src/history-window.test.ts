import { describe, expect, it } from "vitest";
import { historyWindow } from "./history-window.ts";
import type { AssemblySettings } from "./settings.ts";
import { createStrategyRegistry } from "./shift/registry.ts";
import { aLoreEntry, aLorebook, aMessage, theSettings } from "./testing/conversation.ts";

const BUDGET = { contextLimit: 1_500, reservedForReply: 500 };
const settings = (part: Partial<AssemblySettings> = {}) => theSettings({ budget: BUDGET, ...part });
const NO_LORE = { lorebooks: [] };

function chat(messages: number, content: string) {
  return Array.from({ length: messages }, (_, index) => aMessage(index + 1, { content }));
}

const window = (part: Partial<AssemblySettings> = {}) => {
  const found = historyWindow([settings(part)]);
  if (found === null) throw new Error("no window");
  return found;
};

describe("historyWindow", () => {
  it("is everything for a strategy that looks at old messages, or that nobody knows in its parts", () => {
    expect(historyWindow([settings({ contextStrategy: "compress" })])).toBeNull();
    expect(historyWindow([settings(), settings({ contextStrategy: "summarize" })])).toBeNull();
    const strategies = createStrategyRegistry();
    const params = { type: "object", properties: {} } as const;
    strategies.register({ id: "mine", params, shift: () => ({ kept: [] }) });
    expect(historyWindow([settings({ contextStrategy: "mine" })], strategies)).toBeNull();
  });

  it("is enough once history overfills the budget and the counts reach as far back as of a whole chat", () => {
    const line = "lamp ".repeat(100);
    expect(window().isEnough(chat(9, line), NO_LORE)).toBe(false);
    expect(window().isEnough(chat(300, line), NO_LORE)).toBe(false);
    expect(window().isEnough(chat(800, line), NO_LORE)).toBe(true);
  });

  it("is not enough when text with many bytes a token still fits", () => {
    // One run of spaces is a single token or two: 600 KB that cost next to nothing.
    const spaces = `a${" ".repeat(2_000)}b`;
    expect(
      window({ budget: { contextLimit: 12_000, reservedForReply: 500 } }).isEnough(chat(300, spaces), NO_LORE),
    ).toBe(false);
  });

  it("counts text without spaces", () => {
    expect(window().isEnough(chat(400, "灯塔看守人数了四十二声钟响。".repeat(30)), NO_LORE)).toBe(true);
  });

  it("takes the largest of several budgets", () => {
    const line = "lamp ".repeat(100);
    const large = settings({ budget: { contextLimit: 120_000, reservedForReply: 500 } });
    expect(historyWindow([settings(), large])?.bytes).toBeGreaterThan(window().bytes);
    expect(historyWindow([settings(), large])?.isEnough(chat(800, line), NO_LORE)).toBe(false);
  });

  it.each([
    ["marked messages under manual, which leave without taking room", "manual", { manualExcluded: true }, false],
    ["marked messages elsewhere", "truncate", { manualExcluded: true }, true],
    ["pinned messages, which stay", "truncate", { pinned: true }, false],
    ["hidden messages", "truncate", { hidden: true }, false],
  ])("is made up of what can leave for room: %s", (_what, contextStrategy, mark, enough) => {
    const marked = chat(800, "lamp ".repeat(100)).map((message) => ({ ...message, ...mark }));
    const messages = [...marked, aMessage(801), aMessage(802), aMessage(803)];
    expect(window({ contextStrategy }).isEnough(messages, NO_LORE)).toBe(enough);
  });

  it("reaches back to the last message of the user", () => {
    const replies = chat(800, "lamp ".repeat(100)).map((message) => ({ ...message, role: "assistant" as const }));
    expect(window().isEnough(replies, NO_LORE)).toBe(false);
    expect(window().isEnough([aMessage(1), ...replies], NO_LORE)).toBe(true);
  });

  it("holds what a lorebook may scan", () => {
    const lorebooks = [aLorebook([aLoreEntry("lamp")])];
    const cheap = chat(900, `${"é".repeat(150)} `);
    expect(window().isEnough(cheap, NO_LORE)).toBe(true);
    expect(window().isEnough(cheap, { lorebooks })).toBe(false);
    expect(window().isEnough(chat(1_000, `${"é".repeat(150)} `), { lorebooks })).toBe(true);
  });
});
