import { createTurns } from "@shiftwork/platform";
import { HttpProblem } from "../errors.ts";
import type { PreviewRequest } from "./previewer.ts";

/** How many previews may wait, beside those at work. */
export interface MostWaiting {
  readonly ofTenant: number;
  readonly inAll: number;
}

export interface PreviewLine {
  /**
   * Resolves when it is the preview's turn, with what ends the turn. Rejects with the signal's reason, and is out of the
   * line then.
   * @throws HttpProblem RATE_LIMITED or SERVICE_UNAVAILABLE when too many wait already.
   */
  turn(request: PreviewRequest, signal: AbortSignal): Promise<() => void>;
}

const RETRY_AFTER_SECONDS = 5;

/** One preview at a time, and beside it one that may wait for a model: the memory of one long chat each. */
export function openPreviewLine(most: MostWaiting): PreviewLine {
  const [alone, withModel] = [createTurns(1), createTurns(1)];
  const waiting = (tenantId?: string): number => alone.waiting(tenantId) + withModel.waiting(tenantId);
  return {
    async turn({ caller, body }, signal) {
      const turns = body.modelCalls ? withModel : alone;
      if (!turns.isFree()) requireRoom(most, { ofTenant: waiting(caller.tenantId), inAll: waiting() });
      return turns.take(caller.tenantId, signal);
    },
  };
}

function requireRoom(most: MostWaiting, now: MostWaiting): void {
  if (now.ofTenant >= most.ofTenant) {
    throw new HttpProblem("RATE_LIMITED", `At most ${most.ofTenant} previews of one tenant wait at once; try again.`, {
      params: { maxWaitingPreviews: most.ofTenant },
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
  if (now.inAll < most.inAll) return;
  throw new HttpProblem("SERVICE_UNAVAILABLE", `At most ${most.inAll} previews wait at once; try again.`, {
    params: { maxWaitingPreviewsInAll: most.inAll },
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
