import { canonicalJson, sha256Hex } from "@shiftwork/pipeline";
import type { Problem } from "./events.ts";

/** 16 of SHA-256's 32 bytes: short enough to type, long enough that no two groups of a tenant meet. */
const FINGERPRINT_DIGITS = 32;

/** Where a generation failed. */
export interface FailurePlace {
  readonly providerKind: string;
  readonly model: string;
}

/**
 * What failures alike have in common, as 32 hex digits: code, provider kind, model, the provider's HTTP status
 * (`params.upstreamStatus`, when there was one) and whether trying again may help. Never made of text.
 */
export function errorFingerprint(
  error: Pick<Problem, "code" | "retryable" | "params">,
  { providerKind, model }: FailurePlace,
): string {
  const { code, retryable, params } = error;
  const { upstreamStatus = null } = params;
  return sha256Hex(canonicalJson({ code, retryable, upstreamStatus, providerKind, model })).slice(
    0,
    FINGERPRINT_DIGITS,
  );
}
