import type { GenerationEvent } from "@shiftwork/contracts";

/**
 * Live events of generations, as readers see them: ordered, gap-free or visibly gapped, re-readable from any sequence
 * number while they are retained. What announces a status is appended in that status's own transaction (`db`); frames
 * of a reply may stand elsewhere.
 */
export interface EventLog {
  /** Events with `seq > after`, in order, at most `limit`. Authorised by the tenant. */
  read(
    tenantId: string,
    generationId: string,
    after: number,
    limit: number,
    options?: ReadOptions,
  ): Promise<readonly GenerationEvent[]>;
  /** Calls `onAppend` soon after something was appended (and after a reconnect, when something may have been missed). */
  subscribe(generationId: string, onAppend: () => void, options?: SubscribeOptions): () => void;
  /** Deletes what is kept outside the database of generations whose chat or reply was deleted, and takes nothing more of them. */
  forget(tenantId: string, generationIds: readonly string[]): Promise<void>;
  /** Stops listening. Safe twice. */
  close(): Promise<void>;
}

export interface SubscribeOptions {
  /** Frames that stand outside the database wake nobody: for who waits for a status. Default false. */
  readonly storedOnly?: boolean;
}

export interface ReadOptions {
  /** Only a signal brought the reader here: a store that has not signalled since need not be asked. Default false. */
  readonly signalled?: boolean;
}
