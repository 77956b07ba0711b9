import { describe, expect, it } from "vitest";
import { createLoop } from "./loop.ts";

/** Resolves after `runOnce` was called `count` times. */
function counted(count: number) {
  let calls = 0;
  let reached: () => void = () => {};
  const done = new Promise<void>((resolve) => (reached = resolve));
  return {
    done,
    calls: () => calls,
    count() {
      calls += 1;
      if (calls === count) reached();
    },
  };
}

describe("a loop", () => {
  it("runs again without a pause while there is more to do, then waits", async () => {
    const runs = counted(3);
    const loop = createLoop({
      name: "test",
      intervalMs: 60_000,
      runOnce: async () => {
        runs.count();
        return runs.calls() < 3;
      },
      onError: () => {},
    });
    loop.start();
    await runs.done;
    await loop.stop();
    expect(runs.calls()).toBe(3);
  });

  it("runs again when its run says something is due, before the interval is over", async () => {
    const runs = counted(2);
    const loop = createLoop({
      name: "test",
      intervalMs: 60_000,
      runOnce: async () => {
        runs.count();
        return 5;
      },
      onError: () => {},
    });
    loop.start();
    await runs.done;
    await loop.stop();
  });

  it("goes on after a failed run and reports it", async () => {
    const runs = counted(2);
    const errors: unknown[] = [];
    const loop = createLoop({
      name: "test",
      intervalMs: 1,
      runOnce: async () => {
        runs.count();
        if (runs.calls() === 1) throw new Error("once");
      },
      onError: (name, error) => errors.push([name, (error as Error).message]),
    });
    loop.start();
    await runs.done;
    await loop.stop();
    expect(errors).toEqual([["test", "once"]]);
  });

  it("woken during a run runs again at once", async () => {
    const runs = counted(2);
    const loop = createLoop({
      name: "test",
      intervalMs: 60_000,
      runOnce: async () => {
        runs.count();
        if (runs.calls() === 1) loop.wake();
      },
      onError: () => {},
    });
    loop.start();
    await runs.done;
    await loop.stop();
  });

  it("woken many times during a run runs once more, not many times", async () => {
    const twice = counted(2);
    const loop = createLoop({
      name: "test",
      intervalMs: 60_000,
      runOnce: async () => {
        twice.count();
        if (twice.calls() === 1) for (let n = 0; n < 100; n += 1) loop.wake();
      },
      onError: () => {},
    });
    loop.start();
    await twice.done;
    await new Promise(setImmediate);
    await loop.stop();
    expect(twice.calls()).toBe(2);
  });

  it("stopped waits for the run under way, twice without harm", async () => {
    let ended = false;
    let begin: () => void = () => {};
    let release: () => void = () => {};
    const began = new Promise<void>((resolve) => (begin = resolve));
    const gate = new Promise<void>((resolve) => (release = resolve));
    const loop = createLoop({
      name: "test",
      intervalMs: 1,
      runOnce: async () => {
        begin();
        await gate;
        ended = true;
      },
      onError: () => {},
    });
    loop.start();
    await began;
    const stopped = loop.stop();
    release();
    await stopped;
    await loop.stop();
    expect(ended).toBe(true);
  });
});
