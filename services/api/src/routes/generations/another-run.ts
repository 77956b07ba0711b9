import { GenerationObject } from "@shiftwork/contracts";
import type { Endpoint } from "../endpoint.ts";

/** What all endpoints share that have a generation run once more and answer with the new one. */
export const ANOTHER_RUN = {
  method: "POST",
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
} as const satisfies Partial<Endpoint>;
