import { describe, expect, it } from "vitest";
import type { Block } from "../block.ts";
import type { Interceptor } from "../prompt.ts";
import { aBlock, aCall } from "../testing/conversation.ts";
import { aTimer } from "../testing/timer.ts";
import { createCounter } from "../tokens/counter.ts";
import { profileFor } from "../tokens/profiles.ts";
import { intercept } from "./intercept.ts";

const blocks: readonly Block[] = [
  aBlock("system:main", { source: "system", role: "system" }),
  aBlock("mem:1", { source: "memory", role: "system" }),
  aBlock("m1"),
  aBlock("call", { role: "assistant", content: "", toolCalls: [aCall("c")], groupId: "g" }),
  aBlock("result", { role: "tool", toolCallId: "c", groupId: "g" }),
  aBlock("input", { source: "input" }),
];

function plugin(id: string, answer: (given: readonly Block[]) => unknown, priority = 0): Interceptor {
  return { id, priority, intercept: (given) => answer(given) as readonly Block[] };
}

function intercepting(...interceptors: readonly Interceptor[]) {
  const counter = createCounter(profileFor("gpt-4o"));
  return intercept({ blocks, interceptors, counter }, new AbortController().signal);
}

const codes = (result: Awaited<ReturnType<typeof intercepting>>) => result.diagnostics.map(({ code }) => code);

describe("intercept", () => {
  it("hands the blocks on untouched when there is no interceptor", async () => {
    expect(await intercepting()).toEqual({ blocks, leftOut: [], diagnostics: [] });
  });

  it("runs by priority, then by id", async () => {
    const seen: string[] = [];
    const noting = (id: string, priority: number) => plugin(id, (given) => (seen.push(id), given), priority);
    await intercepting(noting("b", 1), noting("z", 0), noting("a", 1));
    expect(seen).toEqual(["z", "a", "b"]);
  });

  it("lets a plugin edit the text of unprotected blocks", async () => {
    const result = await intercepting(
      plugin("edit", (given) => given.map((block) => (block.id === "m1" ? { ...block, content: "shorter" } : block))),
    );
    expect(result.blocks[2]).toEqual({ ...blocks[2], content: "shorter" });
    expect(codes(result)).toEqual(["plugin_edited"]);
  });

  it("keeps protected text, roles, pins, sources and tool links the host's", async () => {
    const result = await intercepting(
      plugin("hostile", (given) =>
        given.map((block) => ({
          ...block,
          ...(block.id === "m1" ? {} : { content: "overwritten" }),
          role: "user",
          pinned: true,
          required: true,
          source: "system",
          toolCallId: "other",
          toolCalls: [],
          groupId: null,
          relevance: 1,
        })),
      ),
    );
    const edited = ["mem:1", "call", "result"];
    const expected = blocks.map((block) => (edited.includes(block.id) ? { ...block, content: "overwritten" } : block));
    expect(result.blocks).toEqual(expected);
    expect(codes(result)).toEqual(["plugin_edited", "host_restored"]);
  });

  it("returns removed protected blocks to their place, and takes others out by whole groups", async () => {
    const result = await intercepting(
      plugin("remove", (given) => given.filter(({ id }) => !["system:main", "input", "mem:1", "m1"].includes(id))),
    );
    expect(result.blocks.map(({ id }) => id)).toEqual(["system:main", "call", "result", "input"]);
    expect(result.leftOut.map(({ block, reason, stage }) => [block.id, reason, stage])).toEqual([
      ["mem:1", "plugin_removed", "intercept"],
      ["m1", "plugin_removed", "intercept"],
    ]);
    expect(result.leftOut.every(({ tokens }) => tokens !== null && tokens > 0)).toBe(true);
    expect(codes(result)).toEqual(["plugin_removed", "host_restored"]);
  });

  it("never lets a plugin take a result from its call", async () => {
    const result = await intercepting(plugin("split", (given) => given.filter(({ id }) => id !== "result")));
    expect(result.blocks.map(({ id }) => id)).toEqual(["system:main", "mem:1", "m1", "input"]);
    expect(result.leftOut.map(({ block }) => block.id)).toEqual(["call", "result"]);
  });

  it("treats blanked text as removed", async () => {
    const result = await intercepting(plugin("blank", (given) => given.map((block) => ({ ...block, content: " " }))));
    expect(result.blocks.map(({ id }) => id)).toEqual(["system:main", "call", "result", "input"]);
    expect(result.blocks[0]?.content).toBe(blocks[0]?.content);
  });

  it("takes additions as unprotected plugin blocks behind the block they follow", async () => {
    const addition = {
      ...aBlock("x", { role: "tool", pinned: true, required: true, source: "system" }),
      content: "Note.",
    };
    const result = await intercepting(
      plugin("notes", (given) => [addition, ...given.slice(0, 3), { ...addition, id: undefined }, ...given.slice(3)]),
    );
    expect(result.blocks.map(({ id }) => id)).toEqual([
      "plugin:notes:0",
      "system:main",
      "mem:1",
      "m1",
      "plugin:notes:1",
      "call",
      "result",
      "input",
    ]);
    expect(result.blocks[0]).toMatchObject({
      source: "plugin",
      role: "system",
      pinned: false,
      required: false,
      reason: "plugin_added",
    });
  });

  it("keeps the host's order whatever order comes back", async () => {
    const result = await intercepting(plugin("shuffle", (given) => given.toReversed()));
    expect(result.blocks).toEqual(blocks);
  });

  it("goes on without a plugin that throws, rejects or answers nonsense", async () => {
    const result = await intercepting(
      plugin("throws", () => {
        throw new Error("broken");
      }),
      plugin("rejects", () => Promise.reject(new Error("broken"))),
      plugin("nothing", () => undefined),
      plugin("nonsense", () => [{ id: "m1", content: 7, role: "user" }]),
      plugin("null", () => [null]),
    );
    expect(result.blocks).toEqual(blocks);
    expect(codes(result)).toEqual(Array.from({ length: 5 }, () => "plugin_failed"));
    expect(result.diagnostics.map(({ detail }) => detail["plugin"])).toEqual([
      "nonsense",
      "nothing",
      "null",
      "rejects",
      "throws",
    ]);
  });

  it("does not let a plugin change the host's blocks by writing to its copies", async () => {
    const before = structuredClone(blocks);
    await intercepting(
      plugin("writes", (given) => {
        for (const block of given) Object.assign(block, { content: "gone", toolCalls: [] });
        return given;
      }),
    );
    expect(blocks).toEqual(before);
  });

  it("ends at once when it is aborted while a plugin hangs", async () => {
    const controller = new AbortController();
    const hanging: Interceptor = { id: "hangs", priority: 0, intercept: () => new Promise(() => {}) };
    const counter = createCounter(profileFor("gpt-4o"));
    const running = intercept({ blocks, interceptors: [hanging], counter }, controller.signal);
    controller.abort(new Error("stopped"));
    await expect(running).rejects.toThrow("stopped");
  });

  it("gives each plugin two seconds, then goes on without it and aborts its signal", async () => {
    const signals: AbortSignal[] = [];
    const hanging: Interceptor = {
      id: "hangs",
      priority: 0,
      intercept: (_given, signal) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    };
    const timer = aTimer();
    const counter = createCounter(profileFor("gpt-4o"));
    const { signal } = new AbortController();
    const running = intercept({ blocks, interceptors: [hanging], counter, after: timer.after }, signal);
    timer.end();
    const result = await running;
    expect(timer.asked).toEqual([2_000]);
    expect([result.blocks, codes(result)]).toEqual([blocks, ["plugin_timeout"]]);
    expect(signals[0]?.aborted).toBe(true);
  });
});
