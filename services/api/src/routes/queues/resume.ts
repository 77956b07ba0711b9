import { QueueObject } from "@shiftwork/contracts";
import { resumeQueue as resume } from "@shiftwork/db";
import { endpoint, ok } from "../endpoint.ts";
import { queueName } from "./queue-name.ts";

export const resumeQueue = endpoint({
  method: "POST",
  path: "/api/v2/queues/:name/resume",
  tag: "Operations",
  summary: "Start generations again",
  scope: "admin:write",
  tenancy: "none",
  result: QueueObject,
  statuses: [200],
  errors: ["NOT_FOUND"],
  handle: async ({ adminDb }, call) => {
    const name = queueName(call);
    await resume(adminDb, name);
    return ok({ object: "queue" as const, name, paused: false });
  },
});
