import { GenerationObject } from "@shiftwork/contracts";
import { acceptRetry } from "../../generations/accept-retry.ts";
import { answerAccepted } from "../generations/answer-accepted.ts";
import { endpoint } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { readDeadLetterObject } from "./dead-letter-object.ts";

export const retryDeadLetter = endpoint({
  method: "POST",
  path: "/api/v2/dead-letters/:generationId/retry",
  tag: "Operations",
  summary: "Run a dead letter again, on today's data; answers with the new generation",
  scope: "generations:write",
  result: GenerationObject,
  statuses: [202, 200],
  streams: true,
  waits: true,
  errors: [
    "GENERATION_NOT_FOUND",
    "PROVIDER_NOT_FOUND",
    "CONFLICT",
    "CHAT_BUSY",
    "QUEUE_FULL",
    "IDEMPOTENCY_KEY_REUSED",
  ],
  handle: (deps, call) => {
    const id = pathId(call, "generation");
    return answerAccepted(deps, call, async (tx, by) => {
      await readDeadLetterObject(tx, call.caller, id);
      return acceptRetry(tx, by, id);
    });
  },
});
