import { describe, expect, it } from "vitest";
import { AssemblyInputError, TokenBudgetExceededError } from "../errors.ts";
import { shiftContext } from "./shift-context.ts";

interface Message {
  readonly id?: string;
  readonly role: string;
  readonly content: string | null;
  readonly tok: number;
  readonly [field: string]: unknown;
}

const said = (id: string, part: Partial<Message> = {}): Message => ({
  id,
  role: "user",
  content: id,
  tok: 10,
  ...part,
});
const calls = (id: string, ...ids: readonly string[]): Message =>
  said(id, {
    role: "assistant",
    content: null,
    tool_calls: ids.map((call) => ({ id: call, function: { name: "f" } })),
  });
const result = (id: string, call: string, part: Partial<Message> = {}): Message =>
  said(id, { role: "tool", tool_call_id: call, ...part });
const cost = (message: Message): number => message.tok;
const ids = (messages: readonly object[]) => messages.map((message) => (message as Message).id);

describe("shiftContext", () => {
  const chat = [said("s", { role: "system" }), said("u1"), said("a1", { role: "assistant" }), said("u2")];

  it("returns what fits unchanged, object by object", () => {
    const { kept, excluded, truncated } = shiftContext(chat, cost, 40);
    expect(kept).toEqual(chat);
    kept.forEach((message, index) => expect(message).toBe(chat[index]));
    expect([excluded, truncated]).toEqual([[], []]);
  });

  it("lets the oldest leave and keeps system, pins and the input", () => {
    const pinned = [chat[0], said("p", { pinned: true }), ...chat.slice(1)] as Message[];
    const { kept, excluded } = shiftContext(pinned, cost, 30);
    expect(ids(kept)).toEqual(["s", "p", "u2"]);
    expect(excluded.map(({ message, reason, groupId }) => [message.id, reason, groupId])).toEqual([
      ["u1", "shift_oldest", null],
      ["a1", "shift_oldest", null],
    ]);
  });

  it("counts what stands beside the messages", () => {
    expect(ids(shiftContext(chat, cost, 40, { overheadTokens: 1 }).kept)).toEqual(["s", "a1", "u2"]);
  });

  it.each(["tool_call_id", "toolCallId", "callId"])(
    "links a result by %s, near or far, and moves both together",
    (field) => {
      const far = { ...said("r", { role: "tool" }), [field]: "c" };
      const history = [calls("a", "c"), said("between"), far, said("u1"), said("u2")];
      expect(ids(shiftContext(history, cost, 40).excluded.map(({ message }) => message))).toEqual(["a", "r"]);
      expect(ids(shiftContext(history, cost, 50).kept)).toEqual(["a", "between", "r", "u1", "u2"]);
    },
  );

  it("takes out calls and results that have no partner, whatever the budget", () => {
    const { kept, excluded } = shiftContext(
      [said("u"), calls("alone", "x"), calls("half", "y", "z"), result("y1", "y"), result("ghost", "g"), said("u2")],
      cost,
      1_000,
    );
    expect(ids(kept)).toEqual(["u", "u2"]);
    expect(excluded.map(({ message, reason }) => [message.id, reason])).toEqual([
      ["alone", "orphan_tool_call"],
      ["half", "incomplete_tool_call"],
      ["y1", "incomplete_tool_call"],
      ["ghost", "orphan_tool_result"],
    ]);
  });

  it("gives a reused call id to the nearest call before it", () => {
    const history = [calls("a1", "c"), result("r1", "c"), calls("a2", "c"), result("r2", "c"), said("u")];
    expect(ids(shiftContext(history, cost, 30).kept)).toEqual(["a2", "r2", "u"]);
  });

  it("keeps the newest call group of the open turn; older ones leave after all history", () => {
    const history = [
      said("u0"),
      said("u"),
      calls("a1", "c1"),
      result("r1", "c1"),
      calls("a2", "c2"),
      result("r2", "c2"),
    ];
    expect(ids(shiftContext(history, cost, 50).kept)).toEqual(["u", "a1", "r1", "a2", "r2"]);
    expect(ids(shiftContext(history, cost, 49).kept)).toEqual(["u", "a2", "r2"]);
  });

  it("protects a group whole when one of its members is pinned", () => {
    const history = [calls("a", "c"), result("r", "c", { pinned: true }), said("u1"), said("u2")];
    expect(ids(shiftContext(history, cost, 30).kept)).toEqual(["a", "r", "u2"]);
  });

  it("lets system messages leave that are marked optional, in either way", () => {
    const narrator = [said("n", { role: "system", meta: { optional: true } }), said("u")];
    expect(ids(shiftContext(narrator, cost, 10).kept)).toEqual(["u"]);
    const plain = [said("n", { role: "system" }), said("u")];
    expect(ids(shiftContext(plain, cost, 10, { optional: ["n"] }).kept)).toEqual(["u"]);
    expect(ids(shiftContext(plain, cost, 10, { optional: ({ id }) => id === "n" }).kept)).toEqual(["u"]);
  });

  it("follows the source of blocks, not their role", () => {
    const blocks = [
      said("main", { source: "system", role: "system" }),
      said("lore", { source: "lorebook", role: "system", relevance: 0.1 }),
      said("must", { source: "lorebook", role: "system", required: true }),
      said("u", { source: "input" }),
    ];
    expect(ids(shiftContext(blocks, cost, 30).kept)).toEqual(["main", "must", "u"]);
  });

  it("says what is protected and dearest when that does not fit", () => {
    const attempt = () => shiftContext([said("s", { role: "system", tok: 50 }), said("old"), said("u")], cost, 59);
    expect(attempt).toThrow(TokenBudgetExceededError);
    try {
      attempt();
    } catch (error) {
      expect(error).toMatchObject({ code: "TOKEN_BUDGET_EXCEEDED", protectedTokens: 60, budgetTokens: 59 });
      expect((error as TokenBudgetExceededError).largest.map(({ blockId }) => blockId)).toEqual(["s", "u"]);
    }
  });

  it.each([-1, 1.5, Number.NaN, Infinity, "9" as never])("refuses the budget %s", (budget) => {
    expect(() => shiftContext(chat, cost, budget)).toThrow(RangeError);
    expect(() => shiftContext(chat, cost, 40, { overheadTokens: budget })).toThrow(RangeError);
  });

  it("refuses a counter that gives no whole number, and a low-water mark beyond 1", () => {
    expect(() => shiftContext(chat, () => Number.NaN, 40)).toThrow(RangeError);
    expect(() => shiftContext(chat, cost, 40, { lowWater: 1.1 })).toThrow(RangeError);
  });

  it("names the strategies there are when it is asked for another", () => {
    const attempt = () => shiftContext(chat, cost, 40, { strategy: "shrink" as never });
    expect(attempt).toThrow(AssemblyInputError);
    expect(attempt).toThrow(
      expect.objectContaining({ code: "STRATEGY_UNKNOWN", fix: expect.stringContaining("manual") }),
    );
  });

  it("waits for a counter that makes it wait, and only then", async () => {
    const waiting = shiftContext(chat, (message) => Promise.resolve(message.tok), 20);
    expect(waiting).toBeInstanceOf(Promise);
    expect(ids((await waiting).kept)).toEqual(["s", "u2"]);
    await expect(shiftContext(chat, () => Promise.reject(new Error("no counter")), 20)).rejects.toThrow("no counter");
  });

  it("throws the signal's reason after an abort", () => {
    const controller = new AbortController();
    controller.abort(new Error("stopped"));
    expect(() => shiftContext(chat, cost, 40, { signal: controller.signal })).toThrow("stopped");
  });

  it("counts nothing that cannot stay, and what stays twice", () => {
    const counted = new Map<string, number>();
    const history = Array.from({ length: 1_000 }, (_, index) => said(`m${index}`));
    const { kept } = shiftContext(
      history,
      (message) => {
        counted.set(message.id ?? "", (counted.get(message.id ?? "") ?? 0) + 1);
        return 10;
      },
      100,
    );
    expect(kept).toHaveLength(10);
    expect(counted.size).toBe(11);
    expect([...counted.values()].filter((times) => times === 2)).toHaveLength(10);
  });

  it("fits again when the second count differs from the first", () => {
    const seen = new Set<string>();
    const dearer = (message: Message): number => (seen.size === seen.add(message.id ?? "").size ? 15 : 10);
    const { kept, excluded } = shiftContext([said("a"), said("b"), said("c")], dearer, 30);
    expect([ids(kept), ids(excluded.map(({ message }) => message))]).toEqual([["b", "c"], ["a"]]);
  });
});
