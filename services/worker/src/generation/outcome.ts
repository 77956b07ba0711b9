import { problem, type Problem, type ProviderErrorCode } from "@shiftwork/contracts";
import { AssemblyInputError } from "@shiftwork/pipeline";
import { ProviderError } from "@shiftwork/providers";
import { RunAborted } from "./active-runs.ts";
import { DatabaseAwayError } from "./while-database-is-away.ts";

/** How a job ended. Every job ends in exactly one of these, decided here and nowhere else. */
export type Outcome =
  | { readonly kind: "completed" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "failed"; readonly error: Problem }
  /** Given back to the line because this worker shuts down. */
  | { readonly kind: "handed_back" }
  /** Given back to the line for a wait the provider asked for. */
  | { readonly kind: "told_to_wait"; readonly errorCode: ProviderErrorCode; readonly waitMs: number }
  /** Somebody else ended or took the run, or the database is away: nothing was written, and what is still open is put back. */
  | { readonly kind: "fenced" }
  /** There was nothing to run: the queue delivers at least once. */
  | { readonly kind: "nothing_to_run" };

/** A run that fails for a reason we can name. */
export class RunFailed extends Error {
  readonly problem: Problem;

  constructor(reason: Problem) {
    super(reason.code);
    this.name = "RunFailed";
    this.problem = reason;
  }
}

/** The provider asked for a wait too long to spend on a slot. */
export class ToldToWait extends Error {
  readonly errorCode: ProviderErrorCode;
  readonly waitMs: number;

  constructor(errorCode: ProviderErrorCode, waitMs: number) {
    super(errorCode);
    this.name = "ToldToWait";
    this.errorCode = errorCode;
    this.waitMs = waitMs;
  }
}

/** Turns whatever stopped a run into its outcome. Unknown errors become INTERNAL and carry nothing of their text. */
export function outcomeOf(error: unknown): Outcome {
  if (error instanceof RunAborted) return outcomeOfAbort(error);
  if (error instanceof DatabaseAwayError) return { kind: "fenced" };
  if (error instanceof RunFailed) return { kind: "failed", error: error.problem };
  if (error instanceof ToldToWait) return { kind: "told_to_wait", errorCode: error.errorCode, waitMs: error.waitMs };
  if (error instanceof ProviderError) {
    const params = {
      ...(error.status === null ? {} : { upstreamStatus: error.status }),
      ...(error.retryAfterMs === null ? {} : { retryAfterMs: error.retryAfterMs }),
    };
    // The provider knows better than the code alone whether trying again can help.
    return { kind: "failed", error: { ...problem(error.code, error.message, params), retryable: error.retryable } };
  }
  if (error instanceof AssemblyInputError) {
    const { code, message, pointer, fix } = error;
    return { kind: "failed", error: problem(code, `${message} ${fix}`, { pointer }) };
  }
  return { kind: "failed", error: problem("INTERNAL", "The run failed unexpectedly; the log has the details.") };
}

function outcomeOfAbort(error: RunAborted): Outcome {
  switch (error.abortCause) {
    case "cancelled":
      return { kind: "cancelled" };
    case "fenced":
      return { kind: "fenced" };
    case "deadline":
      return { kind: "failed", error: problem("DEADLINE_EXCEEDED", "The reply was not finished by the deadline.") };
    case "draining":
      return { kind: "handed_back" };
  }
}
