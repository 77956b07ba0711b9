import { describe, expect, it } from "vitest";
import { errorFingerprint } from "./error-fingerprint.ts";
import { problem } from "./problem.ts";

const place = { providerKind: "openai-compatible", model: "m-1" };
const failed = problem("PROVIDER_UNAVAILABLE", "The provider is overloaded.", { upstreamStatus: 503 });
const base = errorFingerprint(failed, place);

describe("an error's fingerprint", () => {
  it("is the same whatever the words and the other facts say", () => {
    const other = { ...failed, detail: "Other words.", title: "Another title" };
    expect(errorFingerprint({ ...other, params: { upstreamStatus: 503, retryAfterMs: 7 } }, place)).toBe(base);
  });

  it("stays the same between releases, so that groups keep their history", () => {
    expect(base).toBe("061c9fff86f9d377668bd4ec118a7c17");
  });

  it.each([
    ["code", { ...failed, code: "PROVIDER_TIMEOUT" as const }, place],
    ["status", { ...failed, params: { upstreamStatus: 500 } }, place],
    ["missing status", { ...failed, params: {} }, place],
    ["retryability", { ...failed, retryable: false }, place],
    ["model", failed, { ...place, model: "m-2" }],
    ["provider kind", failed, { ...place, providerKind: "echo" }],
  ])("differs by %s", (_what, error, where) => {
    expect(errorFingerprint(error, where)).not.toBe(base);
  });
});
