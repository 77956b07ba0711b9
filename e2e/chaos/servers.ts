import { fork } from "node:child_process";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";

interface Addresses {
  readonly databaseUrl: string;
  /** The same server by its Unix socket, which is gone while it is stopped. */
  readonly socketUrl: string;
  /** `null` when the queue is on PostgreSQL. */
  readonly redisUrl: string | null;
}

/** The private PostgreSQL and Redis of one run, and what can be done to them. */
export interface Servers extends Addresses {
  /** Resolves when it was done; the address stays the same over a restart. */
  run(command: ServerCommand): Promise<void>;
  /** Stops both and deletes what they held. */
  stop(): Promise<void>;
}

/** `crash` = immediate shutdown: open transactions and the unlogged tables are gone. Redis comes back empty. */
export type ServerCommand = "postgres-crash" | "postgres-stop" | "postgres-start" | "redis-stop" | "redis-start";

interface HostAnswer {
  readonly id: number;
  readonly error?: string;
  readonly urls?: Addresses;
}

/** Starts them in a process of their own, so that they end with this one. Throws when a server does not come up. */
export async function startServers(queue: "redis" | "postgres"): Promise<Servers> {
  const host = fork(fileURLToPath(new URL("./server-host.mjs", import.meta.url)), [queue], { execArgv: [] });
  const exited = new Promise<void>((resolve) => host.once("exit", () => resolve()));
  const waiting = new Map<number, (answer: HostAnswer) => void>();
  host.on("message", (answer: HostAnswer) => waiting.get(answer.id)?.(answer));
  let lastId = 0;
  const ask = async (command: ServerCommand | "launch"): Promise<HostAnswer> => {
    const id = (lastId += 1);
    const answer = await new Promise<HostAnswer>((resolve, reject) => {
      waiting.set(id, resolve);
      void exited.then(() => reject(new Error("the process of the servers has ended")));
      host.send({ id, command });
    });
    if (answer.error !== undefined) throw new Error(`${command}: ${answer.error}`);
    return answer;
  };
  const { urls } = await ask("launch").catch((error: unknown) => {
    host.disconnect();
    throw error;
  });
  if (urls === undefined) throw new Error("the servers have no addresses");
  return {
    ...urls,
    run: async (command) => {
      await ask(command);
    },
    stop: () => {
      if (host.connected) host.disconnect();
      return exited;
    },
  };
}

/** Sends commands to a Redis as lines; resolves when the last one was answered. */
export function sendToRedis(redisUrl: string, ...commands: readonly string[]): Promise<void> {
  const { hostname, port, password } = new URL(redisUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.end([`AUTH ${password}`, ...commands, "QUIT", ""].join("\r\n")),
    );
    socket
      .on("error", reject)
      .on("close", () => resolve())
      .resume();
  });
}
