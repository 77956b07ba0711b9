import type { NewEvent } from "@shiftwork/contracts";
import { appendEventsFenced, withTenant, type Claim, type Db, type Tx } from "@shiftwork/db";
import { whileDatabaseIsAway } from "./while-database-is-away.ts";

/** A run's own events, one batch after the other. */
export interface LiveEvents {
  /**
   * Writes the next events, and `also` in the same transaction; false = this attempt may not write any more and nothing
   * was. Tries again while the database is away: the numbers are the run's own, so nothing is written twice.
   */
  append(events: readonly NewEvent[], also?: (tx: Tx) => Promise<void>): Promise<boolean>;
}

export function createLiveEvents(db: Db, claim: Claim): LiveEvents {
  const { tenantId, generationId, fence } = claim;
  let lastSeq = claim.lastSeq;
  return {
    async append(events, also) {
      const mine = await whileDatabaseIsAway(() =>
        withTenant(db, tenantId, async (tx) => {
          const written = await appendEventsFenced(tx, { tenantId, generationId, fence, afterSeq: lastSeq, events });
          if (written) await also?.(tx);
          return written;
        }),
      );
      if (mine) lastSeq += events.length;
      return mine;
    },
  };
}
