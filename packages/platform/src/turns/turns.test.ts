import { describe, expect, it } from "vitest";
import { createTurns } from "./turns.ts";

/** Takes a place for each name (`a1` is of group `a`), and gives every place back at once. */
async function orderOf(names: readonly string[], gone: readonly string[] = []): Promise<readonly string[]> {
  const turns = createTurns(1);
  const order: string[] = [];
  const leaving = new AbortController();
  const over = await turns.take("somebody");
  const all = names.map(async (name) => {
    const giveBack = await turns.take(name.slice(0, 1), gone.includes(name) ? leaving.signal : undefined);
    order.push(name);
    giveBack();
  });
  leaving.abort(new Error("gone"));
  over();
  await Promise.allSettled(all);
  return order;
}

describe("turns", () => {
  it("go from group to group, and by arrival within one", async () => {
    expect(await orderOf(["a1", "a2", "a3", "a4", "b1", "b2", "c1"])).toEqual("a1 b1 c1 a2 b2 a3 a4".split(" "));
  });

  it("pass over who has left the line", async () => {
    expect(await orderOf(["a1", "a2", "b1", "c1"], ["a1", "b1"])).toEqual(["a2", "c1"]);
  });

  it("are as many at once as there are places", async () => {
    const turns = createTurns(2);
    const [first] = await Promise.all([turns.take("a"), turns.take("a")]);
    const third = turns.take("a");
    const fourth = turns.take("b");
    expect([turns.waiting(), turns.waiting("a"), turns.waiting("b"), turns.waiting("c")]).toEqual([2, 1, 1, 0]);
    first?.();
    (await third)();
    await fourth;
    expect(turns.waiting()).toBe(0);
  });

  it("are given back once, however often it is said", async () => {
    const turns = createTurns(1);
    const over = await turns.take("a");
    const second = turns.take("a");
    const third = turns.take("a");
    over();
    over();
    const giveBack = await second;
    expect(turns.waiting()).toBe(1);
    giveBack();
    await third;
  });

  it("are not taken with a signal that has ended, nor lost to one that ends while waiting", async () => {
    const turns = createTurns(1);
    await expect(turns.take("a", AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone");
    const over = await turns.take("a");
    const leaving = new AbortController();
    const left = turns.take("a", leaving.signal);
    leaving.abort(new Error("left"));
    await expect(left).rejects.toThrow("left");
    over();
    await turns.take("a");
  });
});
