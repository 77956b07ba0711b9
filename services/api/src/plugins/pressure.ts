import underPressure from "@fastify/under-pressure";
import type { FastifyInstance } from "fastify";
import { HttpProblem } from "../errors.ts";

/** Above this the process sheds load instead of queueing it, in milliseconds. */
const EVENT_LOOP_DELAY_MS = 2_000;
/** Probes are answered whatever the load. */
const PROBES: ReadonlySet<string> = new Set(["/livez", "/readyz"]);

/** Answers 503 with `Retry-After` while the event loop is held up. */
export async function addPressureValve(app: FastifyInstance): Promise<void> {
  await app.register(underPressure, {
    maxEventLoopDelay: EVENT_LOOP_DELAY_MS,
    pressureHandler: async (request) => {
      if (PROBES.has(request.url)) return;
      throw new HttpProblem("SERVICE_UNAVAILABLE", "The service is overloaded; try again.", { retryAfterSeconds: 2 });
    },
  });
}
