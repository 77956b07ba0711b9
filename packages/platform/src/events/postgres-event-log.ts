import { EVENTS_CHANNEL, readEvents, withTenant, type Database } from "@shiftwork/db";
import type { EventLog } from "./event-log.ts";

/**
 * The event log on PostgreSQL: an unlogged table, and one LISTEN connection per process that wakes the readers of a
 * generation. Resolves once the server has acknowledged the LISTEN.
 */
export async function openPostgresEventLog(database: Database): Promise<EventLog> {
  const readers = new Map<string, Set<() => void>>();
  const wake = (generationId: string): void => {
    for (const onAppend of readers.get(generationId) ?? []) onAppend();
  };
  // Called again after every reconnect: what was signalled in between is lost, so everybody reads again.
  const wakeAll = (): void => {
    for (const generationId of readers.keys()) wake(generationId);
  };
  const listening = await database.client.listen(EVENTS_CHANNEL, wake, wakeAll);
  let closed = false;
  return {
    read: (tenantId, generationId, after, limit) =>
      withTenant(database.db, tenantId, (tx) => readEvents(tx, tenantId, generationId, after, limit)),
    subscribe(generationId, onAppend) {
      const mine = readers.get(generationId) ?? new Set();
      readers.set(generationId, mine.add(onAppend));
      return () => {
        mine.delete(onAppend);
        if (mine.size === 0 && readers.get(generationId) === mine) readers.delete(generationId);
      };
    },
    async close() {
      if (closed) return;
      closed = true;
      readers.clear();
      await listening.unlisten();
    },
  };
}
