import { describe, expect, it } from "vitest";
import { decideRetry, type RetryPolicy } from "./retry-policy.ts";

const policy: RetryPolicy = {
  baseMs: 500,
  capMs: 1_500,
  longestInPlaceMs: 5_000,
  mostToldWaits: 2,
  random: () => 0.5,
};
const failed = {
  error: { retryable: true, retryAfterMs: null as number | null },
  tries: 1,
  toldWaits: 0,
  untilDeadlineMs: 600_000,
};
const told = (retryAfterMs: number) => ({ ...failed, error: { retryable: true, retryAfterMs } });

describe("a request that failed before its first token", () => {
  it("is sent three times at most", () => {
    expect([1, 2, 3].map((tries) => decideRetry({ ...failed, tries }, policy).kind)).toEqual([
      "wait",
      "wait",
      "give_up",
    ]);
  });

  it("waits a share of a time that doubles, up to its cap", () => {
    const waits = [0, 0.5, 1].map((share) =>
      [1, 2].map((tries) => decideRetry({ ...failed, tries }, { ...policy, random: () => share })),
    );
    expect(waits).toEqual([
      [wait(0), wait(0)],
      [wait(250), wait(500)],
      [wait(500), wait(1_000)],
    ]);
    const capped = decideRetry({ ...failed, tries: 2 }, { ...policy, capMs: 600, random: () => 1 });
    expect(capped).toEqual(wait(600));
  });

  it("never comes back sooner than it was told", () => {
    expect(decideRetry(told(2_000), { ...policy, random: () => 0 })).toEqual(wait(2_000));
    expect(decideRetry(told(2_000), policy)).toEqual(wait(2_250));
  });

  it("gives its slot back for a long wait, and only so often", () => {
    expect(decideRetry(told(5_001), policy)).toEqual({ kind: "release", waitMs: 5_251 });
    expect(decideRetry({ ...told(5_001), toldWaits: 1 }, policy).kind).toBe("release");
    expect(decideRetry({ ...told(5_001), toldWaits: 2 }, policy).kind).toBe("give_up");
  });

  it("gives its slot back for a long wait even at its last try: the attempt is not counted", () => {
    expect(decideRetry({ ...told(5_001), tries: 3 }, policy).kind).toBe("release");
  });

  it.each([told(10_000), told(2_000), failed])("fails at once when the wait would pass the deadline (%#)", (facts) => {
    const random = () => 1;
    expect(decideRetry({ ...facts, untilDeadlineMs: 500 }, { ...policy, random }).kind).toBe("give_up");
  });

  it("is given up when trying again cannot help, whatever it was told", () => {
    expect(decideRetry({ ...failed, error: { retryable: false, retryAfterMs: 10 } }, policy).kind).toBe("give_up");
  });
});

function wait(waitMs: number) {
  return { kind: "wait", waitMs };
}
