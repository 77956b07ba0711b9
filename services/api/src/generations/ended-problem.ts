import type { ErrorCode, GenerationObject } from "@shiftwork/contracts";
import { HttpProblem } from "../errors.ts";

/** Tells of a generation that ended, not of a request that went wrong: who ran it has logged it. */
export class GenerationEnded extends HttpProblem {}

/**
 * What whoever waited for a reply is told of a generation that ended without a complete one; `null` when it completed or
 * has not ended. A partial text is named, not shown.
 */
export function endedProblem({ id, status, messageId, error }: GenerationObject): GenerationEnded | null {
  const params = { generationId: id, messageId };
  if (status === "cancelled") {
    return new GenerationEnded("GENERATION_CANCELLED", "The generation was cancelled before its reply was complete.", {
      params,
    });
  }
  if (status !== "failed" || error === null) return null;
  const { code, detail, retryable } = error;
  return new GenerationEnded(code as ErrorCode, detail, {
    params: { ...error.params, ...params },
    retryable,
    ...retryAfter(error.params["retryAfterMs"]),
  });
}

function retryAfter(retryAfterMs: unknown): { readonly retryAfterSeconds?: number } {
  return typeof retryAfterMs === "number" ? { retryAfterSeconds: Math.ceil(retryAfterMs / 1_000) } : {};
}
