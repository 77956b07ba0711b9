import { performance } from "node:perf_hooks";
import { giveLeaseBack, takeLease, type Db } from "@shiftwork/db";

/** One process at a time acts for the whole cluster. */
export interface Leader {
  /** True when this process leads, trying to become it if nobody does. Throws when the database is away. */
  leads(): Promise<boolean>;
  /** Gives the lead away. Safe twice. */
  close(): Promise<void>;
}

const LEASE = "leader";

/**
 * The lead is a lease: whoever does not renew it, because it died or froze, loses it. What a leader does is idempotent or
 * fenced, so a process that wakes up and still believes it leads can do no harm.
 */
export function createLeader(db: Db, holder: string, leaseMs: number): Leader {
  let askedAtMs = -Infinity;
  let answer: Promise<boolean> = Promise.resolve(false);
  return {
    // Several loops ask, often: one question per third of the lease is enough for all of them.
    leads() {
      const nowMs = performance.now();
      if (nowMs - askedAtMs < leaseMs / 3) return answer;
      askedAtMs = nowMs;
      answer = takeLease(db, LEASE, holder, leaseMs);
      return answer;
    },
    async close() {
      await answer.catch(() => false);
      await giveLeaseBack(db, LEASE, holder);
    },
  };
}
