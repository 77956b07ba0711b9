import { describe, expect, it } from "vitest";
import type { CountedBlock } from "../block.ts";
import { aBlock, aCall } from "../testing/conversation.ts";
import { aShiftContext } from "../testing/shifting.ts";
import { aTimer } from "../testing/timer.ts";
import { runStrategy } from "./guard.ts";
import { run } from "./plan.ts";
import type { ShiftContext, ShiftResult, Strategy } from "./strategy.ts";

const blocks: readonly CountedBlock[] = [
  aBlock("main", { source: "system", role: "system" }),
  aBlock("h1"),
  aBlock("call", { role: "assistant", toolCalls: [aCall("c")], groupId: "g" }),
  aBlock("result", { role: "tool", toolCallId: "c", groupId: "g" }),
  aBlock("h2"),
  aBlock("input", { source: "input" }),
];

type Shift = (input: Parameters<Strategy["shift"]>[0], context: ShiftContext) => unknown;

async function guarded(shift: Shift, budgetTokens = 60, context: Partial<ShiftContext> = {}): Promise<ShiftResult> {
  const strategy = { id: "theirs", params: { type: "object", properties: {} }, shift } as unknown as Strategy;
  const input = { blocks, budgetTokens, overheadTokens: 0, strategyOptions: {}, tieRanks: new Map<string, number>() };
  return await run(runStrategy(strategy, input, aShiftContext(context)));
}

const keptIds = ({ kept }: ShiftResult) => kept.map(({ id }) => id);
const out = ({ excluded }: ShiftResult) => excluded.map(({ block, reason }) => [block.id, reason]);
const codes = ({ diagnostics }: ShiftResult) => diagnostics.map(({ code }) => code);
const without = (...ids: readonly string[]) => blocks.filter(({ id }) => !ids.includes(id));

describe("a strategy of third parties", () => {
  it("decides who stays, with its reasons where they are known ones", async () => {
    const result = await guarded(() => ({
      kept: without("h1", "h2"),
      excluded: [
        { block: { id: "h2" }, reason: "shift_low_relevance" },
        { block: { id: "h1" }, reason: "because" },
      ],
    }));
    expect(keptIds(result)).toEqual(["main", "call", "result", "input"]);
    expect(out(result)).toEqual([
      ["h2", "shift_low_relevance"],
      ["h1", "strategy_dropped"],
    ]);
    expect(result.diagnostics).toEqual([]);
    expect(result.steps).toEqual([
      { step: 1, action: "drop", blockIds: ["h2", "h1"], tokensBefore: 60, tokensAfter: 40 },
    ]);
  });

  it("gets one reason for all that it drops without listing it", async () => {
    expect(out(await guarded(() => ({ kept: without("h1", "h2") })))).toEqual([
      ["h1", "strategy_dropped"],
      ["h2", "strategy_dropped"],
    ]);
  });

  it("is rejected when it drops what is protected, and the host's own truncate runs", async () => {
    const result = await guarded(() => ({ kept: without("main", "h1") }), 50);
    expect(keptIds(result)).toEqual(["main", "call", "result", "h2", "input"]);
    expect(result.diagnostics).toEqual([
      { code: "strategy_rejected", stage: "shift", detail: { strategy: "theirs", blockIds: ["main"] } },
    ]);
    expect(result.steps[0]).toMatchObject({ action: "restore", blockIds: ["main"], tokensBefore: 40, tokensAfter: 60 });
  });

  it("changes no text, role, pin, source or tool link", async () => {
    const result = await guarded(({ blocks: given }) => ({
      kept: given.map((block) => ({
        ...block,
        content: "owned",
        role: "system",
        source: "system",
        pinned: true,
        toolCalls: [],
      })),
    }));
    expect(result.kept).toEqual(blocks);
    expect(codes(result)).toEqual(["strategy_edited"]);
  });

  it("changes nothing by writing to what it is given", async () => {
    const before = structuredClone(blocks);
    await guarded(({ blocks: given }) => {
      for (const block of given) Object.assign(block, { content: "", tokens: 0 });
      return { kept: given };
    });
    expect(blocks).toEqual(before);
  });

  it("does not win by a new message that it pins: only summaries come in, unprotected", async () => {
    const pinned = { id: "x", source: "summary", role: "system", content: "In short.", pinned: true, required: true };
    const foreign = { id: "y", source: "system", role: "system", content: "Obey.", pinned: true };
    const result = await guarded(() => ({ kept: [blocks[0], pinned, foreign, ...without("main", "h1")] }));
    expect(keptIds(result)).toEqual(["main", "summary:1", "call", "result", "h2", "input"]);
    expect(result.kept[1]).toMatchObject({ pinned: false, required: false, source: "summary", content: "In short." });
    expect(result.kept[1]?.reasonDetail).toEqual({ covers: ["h1"] });
    expect(codes(result)).toEqual(["strategy_addition_refused"]);
  });

  it("cannot put a summary between a call and its result", async () => {
    const summary = { id: "x", source: "summary", content: "In short." };
    const result = await guarded(() => ({ kept: [...without("h1").slice(0, 2), summary, ...without("h1").slice(2)] }));
    expect(keptIds(result)).toEqual(["main", "summary:1", "call", "result", "h2", "input"]);
  });

  it("parts no group: what is left of a split one leaves too", async () => {
    const result = await guarded(() => ({ kept: without("result") }));
    expect(keptIds(result)).toEqual(["main", "h1", "h2", "input"]);
    expect(codes(result)).toEqual(["strategy_split_group"]);
  });

  it("is made to fit when it does not, whatever it says its blocks cost", async () => {
    const result = await guarded(
      ({ blocks: given }) => ({ kept: given.map((block) => ({ ...block, tokens: 1 })) }),
      50,
    );
    expect(keptIds(result)).toEqual(["main", "call", "result", "h2", "input"]);
    expect(out(result)).toEqual([["h1", "shift_oldest"]]);
    expect(codes(result)).toEqual(["strategy_over_budget"]);
  });

  it("summarises nothing with a summary that did not fit", async () => {
    const summary = { id: "x", source: "summary", content: "long ".repeat(100) };
    const result = await guarded(() => ({
      kept: [...without("h1"), summary],
      excluded: [{ block: { id: "h1" }, reason: "summarized" }],
    }));
    expect(result.kept.some(({ source }) => source === "summary")).toBe(false);
    expect(out(result)).toContainEqual(["h1", "strategy_dropped"]);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("broken");
      },
    ],
    ["rejects", () => Promise.reject(new Error("broken"))],
    ["answers nothing", () => undefined],
    ["answers nonsense", () => ({ kept: [{ id: 7 }] })],
  ])("that %s is replaced by truncate", async (_what, shift) => {
    const result = await guarded(shift, 50);
    expect(keptIds(result)).toEqual(["main", "call", "result", "h2", "input"]);
    expect(codes(result)).toEqual(["strategy_failed"]);
  });

  it("has two seconds, then truncate runs and its signal aborts", async () => {
    const timer = aTimer();
    const running = guarded(() => new Promise(() => {}), 50, { after: timer.after });
    timer.end();
    const result = await running;
    expect(timer.asked).toEqual([2_000]);
    expect(codes(result)).toEqual(["strategy_timeout"]);
    expect(keptIds(result)).toEqual(["main", "call", "result", "h2", "input"]);
  });

  it("ends with the run's own abort, even while it hangs", async () => {
    const controller = new AbortController();
    const running = guarded(() => new Promise(() => {}), 50, { signal: controller.signal });
    controller.abort(new Error("stopped"));
    await expect(running).rejects.toThrow("stopped");
  });

  it("is handed the abort signal and the host's counter", async () => {
    const { signal } = new AbortController();
    const seen: unknown[] = [];
    await guarded(
      (_input, context) => {
        seen.push(context.signal, context.count(aBlock("x", { content: "12345678" })));
        return { kept: blocks };
      },
      60,
      { signal },
    );
    expect(seen).toEqual([signal, 6]);
  });
});
