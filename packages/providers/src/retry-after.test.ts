import { describe, expect, it } from "vitest";
import { retryAfterMs } from "./retry-after.ts";

const NOW = Date.UTC(2026, 0, 1);

describe("retryAfterMs", () => {
  it.each([
    [{ "retry-after": "20" }, 20_000],
    [{ "retry-after": "1.5" }, 1_500],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, 30_000],
    [{ "retry-after": "Wed, 31 Dec 2025 23:00:00 GMT" }, 0],
    [{ "retry-after-ms": "250", "retry-after": "20" }, 250],
    [{ "retry-after": "99999999" }, 86_400_000],
    [{ "retry-after": "soon" }, null],
    [{ "retry-after": "-5" }, null],
    [{ "retry-after": "" }, null],
    [{}, null],
  ])("%j → %s", (headers, expected) => {
    expect(retryAfterMs(headers, NOW)).toBe(expected);
  });
});
