import { AssemblyInputError } from "@shiftwork/pipeline";
import { ProviderError } from "@shiftwork/providers";
import { describe, expect, it } from "vitest";
import { RunAborted } from "./active-runs.ts";
import { outcomeOf } from "./outcome.ts";

describe("the outcome of a run", () => {
  it.each([
    ["cancelled", { kind: "cancelled" }],
    ["fenced", { kind: "fenced" }],
    ["draining", { kind: "handed_back" }],
    ["deadline", { kind: "failed", error: { code: "DEADLINE_EXCEEDED" } }],
  ] as const)("aborted as %s is decided by the abort", (cause, expected) => {
    expect(outcomeOf(new RunAborted(cause))).toMatchObject(expected);
  });

  it("of a provider error is its code and our words", () => {
    const error = new ProviderError("PROVIDER_RATE_LIMITED", "Wait.", { retryable: true, retryAfterMs: 1500 });
    expect(outcomeOf(error)).toMatchObject({
      kind: "failed",
      error: { code: "PROVIDER_RATE_LIMITED", origin: "provider", params: { retryAfterMs: 1500 } },
    });
  });

  it("of a provider error is retryable only if the provider's own account says so", () => {
    const refused = new ProviderError("PROVIDER_UNAVAILABLE", "Not allowed.", { retryable: false });
    expect(outcomeOf(refused)).toMatchObject({ error: { code: "PROVIDER_UNAVAILABLE", retryable: false } });
  });

  it("of a wrong setting names the field", () => {
    const error = new AssemblyInputError("MODEL_UNKNOWN", "/budget/contextLimit", "Unknown window.", "Give one.");
    expect(outcomeOf(error)).toMatchObject({
      error: {
        code: "MODEL_UNKNOWN",
        detail: "Unknown window. Give one.",
        params: { pointer: "/budget/contextLimit" },
      },
    });
  });

  it("of an unknown error carries nothing of its text", () => {
    expect(JSON.stringify(outcomeOf(new Error("password=hunter2")))).not.toContain("hunter2");
  });
});
