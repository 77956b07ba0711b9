import { CreateGeneration, GenerationObject } from "@shiftwork/contracts";
import { acceptGeneration } from "../../generations/accept.ts";
import { endpoint } from "../endpoint.ts";
import { pathId } from "../ids.ts";
import { answerAccepted } from "./answer-accepted.ts";

export const createGeneration = endpoint({
  method: "POST",
  path: "/api/v2/chats/:chatId/generations",
  tag: "Generations",
  summary:
    "Send a turn; answers 202, the stream of its events with Accept: text/event-stream, or its end with Prefer: wait",
  scope: "generations:write",
  body: CreateGeneration,
  result: GenerationObject,
  statuses: [202, 200],
  streams: true,
  waits: true,
  errors: [
    "CHAT_NOT_FOUND",
    "PROVIDER_NOT_FOUND",
    "PERSONA_NOT_FOUND",
    "LOREBOOK_NOT_FOUND",
    "MESSAGE_NOT_FOUND",
    "CHAT_BUSY",
    "ASSEMBLY_CHANGED",
    "MODEL_UNKNOWN",
    "STRATEGY_UNKNOWN",
    "QUEUE_FULL",
    "IDEMPOTENCY_KEY_REUSED",
  ],
  handle: (deps, call) => {
    const chatId = pathId(call, "chat");
    return answerAccepted(deps, call, (tx, by) => acceptGeneration(tx, by, chatId, call.body));
  },
});
