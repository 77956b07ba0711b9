import type { NewEvent } from "@shiftwork/contracts";
import { appendEventsFenced, lockChat, withTenant, type Claim, type Db, type Tx } from "@shiftwork/db";
import { whileDatabaseIsAway } from "./while-database-is-away.ts";

/** A run's own events, one batch after the other. */
export interface LiveEvents {
  /**
   * Writes the next events; false = this attempt may not write any more and nothing was written. Tries again while the
   * database is away: the numbers are the run's own, so nothing is written twice.
   */
  append(events: readonly NewEvent[], more?: InTheSameTransaction): Promise<boolean>;
}

export interface InTheSameTransaction {
  /** Runs behind the events, if they were written. */
  readonly also: (tx: Tx) => Promise<void>;
  /** It writes to the chat: the chat is locked before the generation, as everywhere. Default false. */
  readonly touchesChat?: boolean;
}

export function createLiveEvents(db: Db, claim: Claim): LiveEvents {
  const { tenantId, generationId, chatId, fence } = claim;
  let lastSeq = claim.lastSeq;
  return {
    async append(events, more) {
      const mine = await whileDatabaseIsAway(() =>
        withTenant(db, tenantId, async (tx) => {
          if (more?.touchesChat && !(await lockChat(tx, tenantId, chatId))) return false;
          const append = { tenantId, generationId, fence, afterSeq: lastSeq, events, alone: more === undefined };
          const written = await appendEventsFenced(tx, append);
          if (written) await more?.also(tx);
          return written;
        }),
      );
      if (mine) lastSeq += events.length;
      return mine;
    },
  };
}
