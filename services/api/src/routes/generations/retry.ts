import { GenerationObject, RetryGeneration } from "@shiftwork/contracts";
import { acceptRetry } from "../../generations/accept-retry.ts";
import { endpoint } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { answerAccepted } from "./answer-accepted.ts";

export const retryGeneration = endpoint({
  method: "POST",
  path: "/api/v2/generations/:generationId/retry",
  tag: "Generations",
  summary: "Run a failed or cancelled generation again: on today's data, or with the very request it sent",
  scope: "generations:write",
  body: RetryGeneration,
  result: GenerationObject,
  statuses: [202, 200],
  streams: true,
  waits: true,
  errors: [
    "GENERATION_NOT_FOUND",
    "PROVIDER_NOT_FOUND",
    "CONFLICT",
    "CHAT_BUSY",
    "GENERATION_ALREADY_FINISHED",
    "AUDIT_NOT_AVAILABLE",
    "QUEUE_FULL",
    "IDEMPOTENCY_KEY_REUSED",
  ],
  handle: (deps, call) => {
    const id = pathId(call, "generation");
    return answerAccepted(deps, call, (tx, by) => acceptRetry(tx, by, id, call.body.mode));
  },
});
