import { QueueObject } from "@shiftwork/contracts";
import { pauseQueue, resumeQueue } from "@shiftwork/db";
import { endpoint, ok } from "../endpoint.ts";
import { queueName } from "./queue-name.ts";

const SWITCH = {
  pause: { summary: "Stop starting generations, of every tenant; running ones go on", apply: pauseQueue, paused: true },
  resume: { summary: "Start generations again", apply: resumeQueue, paused: false },
} as const;

/** The endpoint that pauses the queue, or the one that lets it go on. */
export function queueSwitch(verb: keyof typeof SWITCH) {
  const { summary, apply, paused } = SWITCH[verb];
  return endpoint({
    method: "POST",
    path: `/api/v2/queues/:name/${verb}`,
    tag: "Operations",
    summary,
    scope: "admin:write",
    tenancy: "none",
    result: QueueObject,
    statuses: [200],
    errors: ["NOT_FOUND"],
    handle: async ({ adminDb }, call) => {
      const name = queueName(call);
      await apply(adminDb, name);
      return ok({ object: "queue" as const, name, paused });
    },
  });
}
