import type { GenerationEvent } from "@shiftwork/contracts";

/**
 * Live events of generations, as readers see them: ordered, gap-free or visibly gapped, re-readable from any sequence
 * number while they are retained. Writers append in their own transactions (`db`), so a terminal event commits with
 * the status it announces.
 */
export interface EventLog {
  /** Events with `seq > after`, in order, at most `limit`. Authorised by the tenant. */
  read(tenantId: string, generationId: string, after: number, limit: number): Promise<readonly GenerationEvent[]>;
  /** Calls `onAppend` soon after something was appended (and after a reconnect, when something may have been missed). */
  subscribe(generationId: string, onAppend: () => void): () => void;
  /** Stops listening. Safe twice. */
  close(): Promise<void>;
}
