import { GenerationObject, RetryGeneration } from "@shiftwork/contracts";
import { answerOnce } from "../../answer-once.ts";
import { acceptRetry } from "../../generations/accept-retry.ts";
import { endpoint } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { accepted, stream, wantsStream } from "./create.ts";

export const retryGeneration = endpoint({
  method: "POST",
  path: "/api/v2/generations/:generationId/retry",
  tag: "Generations",
  summary: "Run a failed or cancelled generation again, on today's data",
  scope: "generations:write",
  body: RetryGeneration,
  result: GenerationObject,
  statuses: [202],
  streams: true,
  errors: [
    "GENERATION_NOT_FOUND",
    "PROVIDER_NOT_FOUND",
    "CONFLICT",
    "CHAT_BUSY",
    "GENERATION_ALREADY_FINISHED",
    "QUEUE_FULL",
    "IDEMPOTENCY_KEY_REUSED",
  ],
  handle: async (deps, call) => {
    const id = pathId(call, "generation");
    const answer = await answerOnce(deps, call, async (tx) => {
      const { strategies } = deps.plugins;
      const by = { caller: call.caller, requestId: call.request.id, strategies };
      return accepted(tx, call, await acceptRetry(tx, by, id));
    });
    call.request.generationId = answer.generationId ?? null;
    return wantsStream(call) ? stream(deps, call, answer) : answer;
  },
});
