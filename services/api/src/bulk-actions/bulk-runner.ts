import { holdBulkAction, withTenant, type BulkActionRow, type Db, type HeldBulkAction, type Tx } from "@shiftwork/db";
import type { LoadedPlugins, Logger, Queue } from "@shiftwork/platform";

/** How long a process that stops answering keeps an action, in milliseconds; far longer than a batch takes. */
export const LEASE_MS = 15_000;

export interface BulkRunner {
  readonly db: Db;
  readonly adminDb: Db;
  readonly queue: Pick<Queue, "remove">;
  readonly logger: Logger;
  readonly plugins: LoadedPlugins;
  /** This process. */
  readonly holder: string;
  /** Generations dealt with at once. */
  readonly batchSize: number;
}

/** What became of a batch. `later` = there is more, and it cannot be done now. */
export type BatchOutcome = "more" | "later" | "ended";

/** Runs `work` with the action locked and its lease renewed; `null` = it was aborted or taken over, nothing was done. */
export function withHeld<T>(
  db: Db,
  held: HeldBulkAction,
  work: (tx: Tx, action: BulkActionRow) => Promise<T>,
): Promise<T | null> {
  return withTenant(db, held.tenantId, async (tx) => {
    const action = await holdBulkAction(tx, held, LEASE_MS);
    return action === null ? null : work(tx, action);
  });
}
