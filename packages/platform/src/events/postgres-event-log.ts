import { EVENTS_CHANNEL, readEvents, withTenant, type Database } from "@shiftwork/db";
import type { EventLog } from "./event-log.ts";
import { createReaders } from "./readers.ts";

/**
 * The event log on PostgreSQL: an unlogged table, and one LISTEN connection per process that wakes the readers of a
 * generation. Resolves once the server has acknowledged the LISTEN.
 */
export async function openPostgresEventLog(database: Database): Promise<EventLog> {
  const readers = createReaders();
  const listening = await database.client.listen(EVENTS_CHANNEL, readers.wake, readers.wakeAll);
  let closed = false;
  return {
    read: (tenantId, generationId, after, limit) =>
      withTenant(database.db, tenantId, (tx) => readEvents(tx, tenantId, generationId, after, limit)),
    // Whatever the option says: everything is stored here.
    subscribe: (generationId, onAppend) => readers.add(generationId, onAppend),
    // They are deleted with the chat, in its transaction.
    forget: async () => {},
    async close() {
      if (closed) return;
      closed = true;
      readers.clear();
      await listening.unlisten();
    },
  };
}
