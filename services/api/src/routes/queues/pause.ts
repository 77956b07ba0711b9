import { QueueObject } from "@shiftwork/contracts";
import { pauseQueue as pause } from "@shiftwork/db";
import { endpoint, ok } from "../endpoint.ts";
import { queueName } from "./queue-name.ts";

export const pauseQueue = endpoint({
  method: "POST",
  path: "/api/v2/queues/:name/pause",
  tag: "Operations",
  summary: "Stop starting generations, of every tenant; running ones go on",
  scope: "admin:write",
  tenancy: "none",
  result: QueueObject,
  statuses: [200],
  errors: ["NOT_FOUND"],
  handle: async ({ adminDb }, call) => {
    const name = queueName(call);
    await pause(adminDb, name);
    return ok({ object: "queue" as const, name, paused: true });
  },
});
