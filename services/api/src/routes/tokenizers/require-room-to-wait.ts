import type { Tokenizers } from "@shiftwork/platform";
import { HttpProblem } from "../../errors.ts";

/** Tasks of one tenant that wait for a thread, each with a file or a long text in memory. */
const MOST_WAITING = 4;

/** Throws RATE_LIMITED when too much of the tenant's waits for a thread already. */
export function requireRoomToWait(tokenizers: Tokenizers, tenantId: string): void {
  if (tokenizers.waiting(tenantId) < MOST_WAITING) return;
  throw new HttpProblem("RATE_LIMITED", `At most ${MOST_WAITING} long counts and uploads wait at once; try again.`, {
    params: { maxWaiting: MOST_WAITING },
    retryAfterSeconds: 1,
  });
}
