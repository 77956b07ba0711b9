import type { ProviderError } from "@shiftwork/providers";

/** How often, and how long apart, a request is sent again before its first token. Times in milliseconds. */
export interface RetryPolicy {
  /** The first pause is drawn between 0 and this, each further one from twice as much. */
  readonly baseMs: number;
  /** No pause is drawn from more. What the provider asks for comes on top. */
  readonly capMs: number;
  /** A wait that the provider asked for and that is longer gives the slot back. */
  readonly longestInPlaceMs: number;
  /** How often one generation is given back for such a wait. */
  readonly mostToldWaits: number;
  /** 0..1, as `Math.random`. */
  readonly random: () => number;
}

/** Requests of one attempt that fail alike, at most. */
const MOST_TRIES = 3;

export type RetryDecision =
  | { readonly kind: "give_up" }
  | { readonly kind: "wait" | "release"; readonly waitMs: number };

/**
 * What becomes of a request that failed before its first token. Full jitter: pauses are drawn evenly from 0 up, so that
 * those who failed together do not come back together. A wait that ends past the deadline is not begun.
 */
export function decideRetry(
  failed: {
    readonly error: Pick<ProviderError, "retryable" | "retryAfterMs">;
    /** Requests sent so far in this attempt, this one included. */
    readonly tries: number;
    readonly toldWaits: number;
    readonly untilDeadlineMs: number;
  },
  policy: RetryPolicy,
): RetryDecision {
  const { error, tries, toldWaits, untilDeadlineMs } = failed;
  if (!error.retryable) return { kind: "give_up" };
  const pauseMs = policy.random() * Math.min(policy.capMs, policy.baseMs * 2 ** (tries - 1));
  const toldMs = error.retryAfterMs ?? 0;
  const waitMs = Math.ceil(toldMs + pauseMs);
  if (waitMs >= untilDeadlineMs) return { kind: "give_up" };
  if (toldMs > policy.longestInPlaceMs) {
    return toldWaits < policy.mostToldWaits ? { kind: "release", waitMs } : { kind: "give_up" };
  }
  return tries < MOST_TRIES ? { kind: "wait", waitMs } : { kind: "give_up" };
}
