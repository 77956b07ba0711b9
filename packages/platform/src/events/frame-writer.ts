import type { GenerationEvent, NewEvent } from "@shiftwork/contracts";
import type { Redis } from "ioredis";
import { connectRedis, serverIdIn, type RedisServer } from "./redis-connection.ts";
import { decodeFrames, encodeFrame, fenceOf, frameKeys, SEAL_MS, serverOf, type FrameEntry } from "./redis-frames.ts";

/** A writer's place among the frames: the attempt that holds `fence`, and the last number it knows of. */
export interface FrameBatch {
  readonly tenantId: string;
  readonly generationId: string;
  readonly fence: number;
  readonly afterSeq: number;
  readonly events: readonly NewEvent[];
}

/** Writes frames of running replies beside the database. Both throw `FramesUnavailableError` while Redis is away. */
export interface FrameWriter {
  /**
   * Appends behind `afterSeq`, and wakes the readers; false = the attempt is sealed, or a later one has written. What this
   * attempt wrote there already stays; what an earlier one did, after Redis had lost its seal, is deleted.
   */
  append(batch: FrameBatch): Promise<boolean>;
  /** From here on neither this attempt nor an earlier one appends. Returns all frames there are. */
  seal(run: Omit<FrameBatch, "afterSeq" | "events">): Promise<SealedFrames>;
  /** Safe twice. */
  close(): void;
}

export interface SealedFrames {
  readonly events: readonly GenerationEvent[];
  /** The last one is the last that was taken of this attempt: the server has lost nothing behind it. */
  readonly isComplete: boolean;
}

export interface FrameWriterOptions extends RedisServer {
  /** A generation's frames are deleted when it has had no new one for this long. */
  readonly retentionMs: number;
}

/**
 * Entries of one generation at most, about: more than a reply in frames comes to. A call whose arguments come in more
 * pieces than this loses the first ones, and whoever has not read them is told of the gap.
 */
const MOST_ENTRIES = 50_000;

const SCRIPTS = {
  appendFrames: {
    numberOfKeys: 2,
    lua: `
      local stream, seal = KEYS[1], KEYS[2]
      local fence, after, retention, most, server, channel, signal = unpack(ARGV, 1, 7)
      local sealed = redis.call('GET', seal)
      if sealed and tonumber(sealed) >= tonumber(fence) then return 0 end
      local last = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
      local lastSeq = last and tonumber(string.match(last[1], '^%d+')) or 0
      local lastFence = last and tonumber(last[2][6]) or 0
      if lastFence > tonumber(fence) then return 0 end
      if lastFence < tonumber(fence) and lastSeq > tonumber(after) then
        local late = redis.call('XRANGE', stream, string.format('%d-0', after + 1), '+')
        for _, entry in ipairs(late) do redis.call('XDEL', stream, entry[1]) end
        redis.call('XSETID', stream, string.format('%d-0', after))
        lastSeq = tonumber(after)
      end
      for i = 8, #ARGV do
        local seq = after + i - 7
        if seq > lastSeq then
          local id = string.format('%d-0', seq)
          redis.call('XADD', stream, 'MAXLEN', '~', most, id, 'event', ARGV[i], 'on', server, 'fence', fence)
        end
      end
      redis.call('PEXPIRE', stream, retention)
      redis.call('PUBLISH', channel, signal)
      return 1`,
  },
  sealFrames: {
    numberOfKeys: 2,
    lua: `
      local sealed = redis.call('GET', KEYS[2])
      if not sealed or tonumber(sealed) < tonumber(ARGV[1]) then
        redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
      end
      return redis.call('XRANGE', KEYS[1], '-', '+')`,
  },
} as const;

interface Scripted extends Redis {
  appendFrames(stream: string, seal: string, ...args: (string | number)[]): Promise<0 | 1>;
  sealFrames(stream: string, seal: string, fence: number, ms: number): Promise<FrameEntry[]>;
}

/** Connects in the background: until then, frames are refused as while Redis is away. */
export function openFrameWriter({ retentionMs, ...server }: FrameWriterOptions): FrameWriter {
  const keys = frameKeys(server.name);
  const redis = connectRedis<Scripted>(server, SCRIPTS);
  const keysOf = ({ tenantId, generationId }: { tenantId: string; generationId: string }) =>
    [keys.stream(tenantId, generationId), keys.seal(tenantId, generationId)] as const;
  return {
    async append(batch) {
      const { generationId, fence, afterSeq, events } = batch;
      const place = [fence, afterSeq, retentionMs, MOST_ENTRIES, redis.serverId, keys.channel, generationId] as const;
      const written = redis.ask((client) =>
        client.appendFrames(...keysOf(batch), ...place, ...events.map((event) => encodeFrame(event))),
      );
      return (await written) === 1;
    },
    async seal(run) {
      // Asked each time: a proxy may have gone over to another server behind an open connection.
      const [entries, info] = await redis.ask((client) =>
        Promise.all([client.sealFrames(...keysOf(run), run.fence, SEAL_MS), client.info("server")]),
      );
      const [last, serverId] = [entries.at(-1), serverIdIn(info)];
      // A server that has come back, or was promoted, cannot show that what it has is all that was taken.
      const isWhole = last !== undefined && serverId !== "" && serverOf(last) === serverId;
      // Nor can the frames of an earlier attempt: the first batch of each stands among them.
      const isComplete = isWhole && fenceOf(last) >= run.fence;
      return { events: decodeFrames(run.generationId, entries), isComplete };
    },
    close: redis.close,
  };
}
