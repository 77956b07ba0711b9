import type { ErrorCode, GenerationObject } from "@shiftwork/contracts";
import { HttpProblem } from "../errors.ts";

/**
 * What whoever waited for a reply is told of a generation that ended without a complete one; `null` when it completed or
 * has not ended. A partial text is named, not shown.
 */
export function endedProblem({ id, status, messageId, error }: GenerationObject): HttpProblem | null {
  const params = { generationId: id, messageId };
  if (status === "cancelled") {
    return new HttpProblem("GENERATION_CANCELLED", "The generation was cancelled before its reply was complete.", {
      params,
    });
  }
  if (status !== "failed" || error === null) return null;
  const { code, detail, retryable } = error;
  return new HttpProblem(code as ErrorCode, detail, {
    params: { ...error.params, ...params },
    retryable,
    ...retryAfter(error.params["retryAfterMs"]),
  });
}

function retryAfter(retryAfterMs: unknown): { readonly retryAfterSeconds?: number } {
  return typeof retryAfterMs === "number" ? { retryAfterSeconds: Math.ceil(retryAfterMs / 1_000) } : {};
}
