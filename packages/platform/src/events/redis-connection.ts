import { Redis, type RedisOptions } from "ioredis";

const CONNECT_TIMEOUT_MS = 2_000;
const COMMAND_TIMEOUT_MS = 2_000;

/** Redis did not do what it was asked. What it was asked may still happen. */
export class FramesUnavailableError extends Error {
  override readonly name = "FramesUnavailableError";
  readonly retryable = true;
}

/** Runs commands at once or not at all: nothing waits for a server that is away. */
export interface RedisConnection<Client extends Redis> {
  /** @throws FramesUnavailableError at once while the connection is down, else within two seconds. */
  ask<T>(command: (client: Client) => Promise<T>): Promise<T>;
  /** The server's `run_id` as the connection was told it; empty while unknown. */
  readonly serverId: string;
  /** Safe twice. */
  close(): void;
}

export interface RedisServer {
  readonly url: string;
  /** Of the installation; connections carry it, and so do keys. */
  readonly name: string;
  /** Told of errors of a connection, and of the first command of several that failed. */
  readonly onError: (error: Error) => void;
}

/** Connects in the background, and again whenever the connection is lost. */
export function connectRedis<Client extends Redis = Redis>(
  server: RedisServer,
  scripts: NonNullable<RedisOptions["scripts"]> = {},
): RedisConnection<Client> {
  const failFast = { enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: COMMAND_TIMEOUT_MS };
  const client = openClient(server, { ...failFast, scripts }) as Client;
  let serverId = "";
  let fails = false;
  const learnServer = (onError: (error: Error) => void): void =>
    void client.info("server").then((info) => (serverId = serverIdIn(info)), onError);
  client.on("close", () => (serverId = ""));
  client.on("ready", () => learnServer(server.onError));
  return {
    get serverId() {
      return serverId;
    },
    async ask(command) {
      try {
        const answer = await command(client);
        fails = false;
        // It was not answered when the connection began, which has been told.
        if (serverId === "") learnServer(() => {});
        return answer;
      } catch (error) {
        // Once: everybody who reads or writes comes by here until it is over.
        if (!fails && error instanceof Error) server.onError(error);
        fails = true;
        // A server that does not answer would cost every command its two seconds, and one that was demoted takes nothing
        // any more: only a new connection is asked again, which may lead to another server.
        if (client.status === "ready" && (!isReply(error) || isDemoted(error))) client.disconnect(true);
        throw new FramesUnavailableError("Redis does not take or give frames", { cause: error });
      }
    },
    close: () => client.disconnect(),
  };
}

/** Calls `onMessage` for each message of the channel, and `onListening` whenever listening has begun (again). */
export function listenToRedis(
  server: RedisServer,
  channel: string,
  onMessage: (payload: string) => void,
  onListening: () => void,
): { close(): void } {
  const client = openClient(server, { maxRetriesPerRequest: null, autoResubscribe: false });
  client.on("message", (_channel: string, payload: string) => onMessage(payload));
  client.on("ready", () => void client.subscribe(channel).then(onListening, server.onError));
  return { close: () => client.disconnect() };
}

function openClient({ url, name, onError }: RedisServer, options: Omit<RedisOptions, "replyMapping">): Redis {
  const common = { connectionName: `${name}:events`, connectTimeout: CONNECT_TIMEOUT_MS, retryStrategy };
  return new Redis(url, { ...common, ...options }).on("error", onError);
}

/** From the answer to `INFO server`. Another one after every restart and failover: both can lose what was last written. */
export function serverIdIn(info: string): string {
  return /^run_id:(\w+)/m.exec(info)?.[1] ?? "";
}

function retryStrategy(attempt: number): number {
  return Math.min(attempt * 100, 1_000);
}

function isReply(error: unknown): boolean {
  return error instanceof Error && error.name === "ReplyError";
}

/** Anywhere in the message: from within a script, older servers put words of their own before it. */
function isDemoted(error: unknown): boolean {
  return error instanceof Error && error.message.includes("READONLY");
}
