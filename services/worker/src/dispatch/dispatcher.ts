import { findUndispatched, markDispatched, publishRoom, type Db } from "@shiftwork/db";
import type { Queue } from "@shiftwork/platform";

export interface DispatcherOptions {
  readonly db: Db;
  readonly queue: Queue;
  /** In flight at once = slots of the living workers × this. */
  readonly windowRatio: number;
  readonly deadAfterMs: number;
}

/**
 * Hands the next generations to the queue; returns how many. The queue first, the mark after: a crash in between adds
 * the same job id again, which the queue ignores.
 */
export async function dispatch(options: DispatcherOptions): Promise<number> {
  // While nobody waits, the API hands out what is free.
  if (!(await publishRoom(options.db, options))) return 0;
  const next = await findUndispatched(options.db, options);
  if (next.length === 0) return 0;
  await options.queue.add(next.map((generation) => ({ ...generation, priority: 1 })));
  await markDispatched(options.db, next);
  return next.length;
}
