import { DISPATCHED_QUEUE } from "@shiftwork/db";
import { HttpProblem } from "../../errors.ts";
import type { Call } from "../endpoint.ts";

/** The queue a path names. */
export function queueName({ params }: Pick<Call, "params">): string {
  if (params["name"] === DISPATCHED_QUEUE) return DISPATCHED_QUEUE;
  throw new HttpProblem("NOT_FOUND", `There is one queue, "${DISPATCHED_QUEUE}".`);
}
