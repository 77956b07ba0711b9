import type { IncomingHttpHeaders } from "node:http";

/** Nobody waits longer for one reply; a larger value is a mistake or a joke. One day. */
const LONGEST_WAIT_MS = 86_400_000;

/** HTTP dates begin with the day of the week; `Date.parse` alone would take `-5` for one. */
const STARTS_LIKE_A_DATE = /^[A-Z][a-z]{2,8}, /;

/**
 * What the provider asks us to wait, in milliseconds, or `null`. Reads `retry-after-ms` (OpenAI, Azure), then
 * `Retry-After` as seconds or as a date (RFC 9110 §10.2.3). `nowMs` = Unix time.
 */
export function retryAfterMs(headers: IncomingHttpHeaders, nowMs: number): number | null {
  const milliseconds = headers["retry-after-ms"];
  if (typeof milliseconds === "string" && isNumber(milliseconds)) return bounded(Number(milliseconds));
  const value = headers["retry-after"]?.trim() ?? "";
  if (isNumber(value)) return bounded(Number(value) * 1000);
  const date = STARTS_LIKE_A_DATE.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? null : bounded(date - nowMs);
}

function isNumber(text: string): boolean {
  return /^\d+(?:\.\d+)?$/.test(text.trim());
}

function bounded(milliseconds: number): number {
  return Math.ceil(Math.min(Math.max(milliseconds, 0), LONGEST_WAIT_MS));
}
