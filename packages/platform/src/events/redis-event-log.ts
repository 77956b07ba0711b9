import type { GenerationEvent } from "@shiftwork/contracts";
import { EVENTS_CHANNEL, readEvents, withTenant, type Database } from "@shiftwork/db";
import type { EventLog } from "./event-log.ts";
import { hasHole, mergeEvents } from "./merge-events.ts";
import { createReaders } from "./readers.ts";
import { connectRedis, FramesUnavailableError, listenToRedis, type RedisServer } from "./redis-connection.ts";
import { decodeFrames, entryId, frameKeys, SEAL_MS, SEALED_FOR_GOOD } from "./redis-frames.ts";

/**
 * The event log with a reply's frames in Redis: a stream per generation. What commits with a row stands in PostgreSQL
 * as ever, and both are read as one. While Redis is away its frames count as missing, and readers are told of the gap
 * as soon as something behind it can be read. Resolves once PostgreSQL has acknowledged the LISTEN.
 */
export async function openRedisEventLog(database: Database, server: RedisServer): Promise<EventLog> {
  const keys = frameKeys(server.name);
  const [readers, statusReaders] = [createReaders(), createReaders()];
  const stored = createStoredReader(database, readers.has);
  const redis = connectRedis(server);
  const listening = await database.client.listen(
    EVENTS_CHANNEL,
    (generationId) => {
      stored.noteSignal(generationId);
      readers.wake(generationId);
      statusReaders.wake(generationId);
    },
    () => {
      stored.noteAll();
      readers.wakeAll();
      statusReaders.wakeAll();
    },
  );
  const signals = listenToRedis(server, keys.channel, readers.wake, readers.wakeAll);

  async function readFrames(tenantId: string, generationId: string, after: number, limit: number) {
    const range = [keys.stream(tenantId, generationId), entryId(after + 1), "+", "COUNT", limit] as const;
    const entries = await redis
      .ask((client) => client.xrange(...range))
      .catch((error: unknown) => {
        if (error instanceof FramesUnavailableError) return [];
        throw error;
      });
    return decodeFrames(generationId, entries);
  }

  let closed = false;
  return {
    async read(tenantId, generationId, after, limit, { signalled = false } = {}) {
      const readStored = (): Promise<readonly GenerationEvent[]> => stored.read(tenantId, generationId, after, limit);
      const isQuiet = signalled && stored.isQuiet(generationId, after);
      // In this order: what is stored was written behind the frames that come before it, so these are there to be read.
      const first = isQuiet ? [] : await readStored();
      const frames = await readFrames(tenantId, generationId, after, limit);
      const events = mergeEvents(first, frames);
      if (frames.length === 0 || !hasHole(events, after)) return events.slice(0, limit);
      // What is missing before a frame may have been stored since. What is newer than all that may lack its frames yet.
      const last = events.at(-1)?.seq ?? after;
      const again = (await readStored()).filter(({ seq }) => seq <= last);
      return mergeEvents(mergeEvents(first, again), frames).slice(0, limit);
    },
    subscribe(generationId, onAppend, { storedOnly = false } = {}) {
      if (storedOnly) return statusReaders.add(generationId, onAppend);
      return readers.add(generationId, onAppend, () => stored.noteSignal(generationId));
    },
    async forget(tenantId, generationIds) {
      await redis.ask((client) =>
        Promise.all(
          generationIds.flatMap((id): Promise<unknown>[] => [
            client.set(keys.seal(tenantId, id), SEALED_FOR_GOOD, "PX", SEAL_MS),
            client.unlink(keys.stream(tenantId, id)),
          ]),
        ),
      );
    },
    async close() {
      if (closed) return;
      closed = true;
      readers.clear();
      statusReaders.clear();
      signals.close();
      redis.close();
      await listening.unlisten();
    },
  };
}

/** Reads the stored part of a log, and remembers behind which number it had nothing until the next signal. */
function createStoredReader(database: Database, isFollowed: (generationId: string) => boolean) {
  const looks = new Map<string, { quietAfter: number }>();
  return {
    async read(tenantId: string, generationId: string, after: number, limit: number) {
      // Entered before the question: a signal that comes before the answer takes it out again.
      const look = { quietAfter: Infinity };
      if (isFollowed(generationId)) looks.set(generationId, look);
      const events = await withTenant(database.db, tenantId, (tx) =>
        readEvents(tx, tenantId, generationId, after, limit),
      );
      if (events.length < limit) look.quietAfter = events.at(-1)?.seq ?? after;
      return events;
    },
    isQuiet: (generationId: string, after: number) => (looks.get(generationId)?.quietAfter ?? Infinity) <= after,
    noteSignal: (generationId: string) => looks.delete(generationId),
    noteAll: () => looks.clear(),
  };
}
