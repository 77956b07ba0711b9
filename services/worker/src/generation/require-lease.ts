import type { Run, RunDependencies } from "./run-state.ts";
import { whileDatabaseIsAway } from "./while-database-is-away.ts";

/**
 * Right before a request that costs money: a process that was frozen may have lost this run, and no other write of it asks
 * for the fence before the request is out. Throws when it was taken away or cancelled meanwhile.
 */
export async function requireLease({ active }: Run, { lease }: Pick<RunDependencies, "lease">): Promise<void> {
  while (lease.isOver()) {
    await whileDatabaseIsAway(() => lease.renew());
    active.signal.throwIfAborted();
  }
}
