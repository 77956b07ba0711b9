import { HealthObject } from "@shiftwork/contracts";
import { endpoint } from "../endpoint.ts";

export const readHealth = endpoint({
  method: "GET",
  path: "/api/v2/health",
  tag: "Service",
  summary:
    "Whether a turn would get its reply: 503 when database, queue, leader or workers are missing; paused = not now",
  scope: "public",
  result: HealthObject,
  statuses: [200, 503],
  errors: [],
  handle: async (deps) => {
    const body = await deps.health();
    return { status: body.status === "failing" ? 503 : 200, body, headers: { "cache-control": "no-store" } };
  },
});
