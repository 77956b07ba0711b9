import { withTenant, type Tx } from "@shiftwork/db";
import type { RunDependencies } from "./run-state.ts";
import { whileDatabaseIsAway } from "./while-database-is-away.ts";

/** Repeated while the database is away: the step's own deadline ends that. */
export function inTenant<T>(
  deps: Pick<RunDependencies, "db">,
  tenantId: string,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return whileDatabaseIsAway(() => withTenant(deps.db, tenantId, work));
}
