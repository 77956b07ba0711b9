import { RetryGeneration } from "@shiftwork/contracts";
import { acceptRetry } from "../../generations/accept-retry.ts";
import { endpoint } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { ANOTHER_RUN } from "./another-run.ts";
import { answerAccepted } from "./answer-accepted.ts";

export const retryGeneration = endpoint({
  ...ANOTHER_RUN,
  path: "/api/v2/generations/:generationId/retry",
  tag: "Generations",
  summary: "Run a failed or cancelled generation again: on today's data, or with the very request it sent",
  body: RetryGeneration,
  errors: [...ANOTHER_RUN.errors, "GENERATION_ALREADY_FINISHED", "AUDIT_NOT_AVAILABLE"],
  handle: (deps, call) => {
    const id = pathId(call, "generation");
    return answerAccepted(deps, call, (tx, by) => acceptRetry(tx, by, id, call.body.mode));
  },
});
