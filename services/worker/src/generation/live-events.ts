import type { NewEvent } from "@shiftwork/contracts";
import { appendEventsFenced, lockChat, withTenant, type Claim, type Db, type Tx } from "@shiftwork/db";
import { FramesUnavailableError, type FrameWriter } from "@shiftwork/platform";
import { whileDatabaseIsAway } from "./while-database-is-away.ts";

/** A run's own events, one batch after the other. */
export interface LiveEvents {
  /**
   * Writes the next events; false = this attempt may not write any more and nothing was written. Tries again while the
   * database is away: the numbers are the run's own, so nothing is written twice.
   */
  append(events: readonly NewEvent[], more?: InTheSameTransaction): Promise<boolean>;
  /** Number of the last event written. */
  readonly lastSeq: number;
}

export interface InTheSameTransaction {
  /** Runs behind the events, if they were written. */
  readonly also: (tx: Tx) => Promise<void>;
  /** It writes to the chat: that is locked before the generation, as everywhere, and the commit waits for the disk. Default false. */
  readonly touchesChat?: boolean;
}

/**
 * With `frames`, what commits with nothing else goes there. The first batch behind the prompt is stored too, a moment later:
 * whoever takes the run over sees from the database that there are frames to look for, and finding none knows they were lost.
 */
export function createLiveEvents(db: Db, claim: Claim, frames: Pick<FrameWriter, "append"> | null): LiveEvents {
  const { tenantId, generationId, chatId, fence } = claim;
  let lastSeq = claim.lastSeq;
  let streams = false;
  let frameStarted = false;

  const place = (events: readonly NewEvent[]) => ({ tenantId, generationId, fence, afterSeq: lastSeq, events });

  async function store(events: readonly NewEvent[], more?: InTheSameTransaction): Promise<boolean> {
    const mine = await whileDatabaseIsAway(() =>
      withTenant(db, tenantId, async (tx) => {
        if (more?.touchesChat && !(await lockChat(tx, tenantId, chatId))) return false;
        const written = await appendEventsFenced(tx, { ...place(events), mayBeLost: more?.touchesChat !== true });
        if (written) await more?.also(tx);
        return written;
      }),
    );
    streams = more?.touchesChat !== true;
    return mine;
  }

  /** While Redis is away its frames are stored instead, under the same numbers: readers read both as one. */
  async function stream(to: Pick<FrameWriter, "append">, events: readonly NewEvent[]): Promise<boolean> {
    try {
      return await to.append(place(events));
    } catch (error) {
      if (error instanceof FramesUnavailableError) return store(events);
      throw error;
    }
  }

  /** Whether it was written is decided where it is stored: by the fence. */
  async function beginFrames(to: Pick<FrameWriter, "append">, events: readonly NewEvent[]): Promise<void> {
    await to.append(place(events)).catch((error: unknown) => {
      if (!(error instanceof FramesUnavailableError)) throw error;
    });
    frameStarted = true;
  }

  return {
    async append(events, more) {
      if (frames !== null && !frameStarted && more?.touchesChat !== true) await beginFrames(frames, events);
      const mine =
        frames !== null && streams && more === undefined ? await stream(frames, events) : await store(events, more);
      if (mine) lastSeq += events.length;
      return mine;
    },
    get lastSeq() {
      return lastSeq;
    },
  };
}
