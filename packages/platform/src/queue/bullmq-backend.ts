import type { GenerationJob } from "@shiftwork/contracts";
import { createPostgresBackend, Queue as BullQueue, withBackend, Worker, type Job, type JobState } from "bullmq";
import { Redis } from "ioredis";
import type { JobState as PortJobState, Queue } from "./queue.ts";

const CONNECT_TIMEOUT_MS = 2_000;
const COMMAND_TIMEOUT_MS = 10_000;
/** Each BullMQ object opens a pool of its own. */
const POOL_SIZE = 3;
/** Unread by us (`QueueEvents` is never used), so short. */
const KEPT_EVENTS = 1_000;

const OnPostgres = withBackend(createPostgresBackend);

/** A BullMQ processor that gets its abort signal: see {@link assertTakesSignal}. */
export type JobProcessor = (
  job: Job<GenerationJob, void>,
  token: string | undefined,
  signal: AbortSignal | undefined,
) => Promise<void>;

/** The worker options that differ between consumers. */
export interface WorkerSettings {
  readonly concurrency: number;
  readonly lockDuration: number;
  readonly stalledInterval: number;
}

/** The part of BullMQ's `Queue` that {@link Queue} needs; the same on both stores. */
export interface Producer {
  readonly queue: Pick<BullQueue<GenerationJob, void>, "addBulk" | "getJobState" | "remove" | "waitUntilReady">;
  /** False while the connection is known to be down: a command would wait for the next attempt. */
  isReachable(): boolean;
  close(): Promise<void>;
}

/** The part of BullMQ's `Worker` that a consumer needs; the same on both stores. */
export interface BullWorker extends Pick<
  Worker,
  "run" | "isRunning" | "cancelJob" | "pause" | "resume" | "close" | "waitUntilReady"
> {
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "failed", listener: (job: unknown, error: Error) => void): unknown;
  on(event: "lockRenewalFailed", listener: (jobIds: string[]) => void): unknown;
}

/** A worker and the connection it was given. */
export interface OpenedWorker {
  readonly worker: BullWorker;
  /** False while the connection is known to be down: BullMQ would wait for it without end. */
  isReachable(): boolean;
  /** Closes what BullMQ leaves open of the worker's; after the worker. */
  dispose(): void;
}

/** Where BullMQ keeps its jobs. The only code that knows which store it is. */
export interface Backend {
  readonly kind: Queue["backend"];
  openProducer(name: string, onError: (error: Error) => void): Producer;
  /** It takes no job before it is told to run. */
  openWorker(name: string, processor: JobProcessor, settings: WorkerSettings): OpenedWorker;
}

/**
 * The backend of a URL: `redis://`, `rediss://`, `postgres://` or `postgresql://`.
 * @throws TypeError on another scheme.
 */
export function backendFor(url: string): Backend {
  const { protocol } = new URL(url);
  if (protocol === "redis:" || protocol === "rediss:") return redisBackend(url);
  if (protocol === "postgres:" || protocol === "postgresql:") return postgresBackend(url);
  throw new TypeError(`a queue lives on redis:// or postgres://, not on ${protocol}//`);
}

/** BullMQ's states as the port names them. */
export const PORT_STATES = {
  waiting: "waiting",
  prioritized: "waiting",
  delayed: "waiting",
  "waiting-children": "waiting",
  active: "active",
  completed: "gone",
  failed: "gone",
  unknown: "gone",
} as const satisfies Record<JobState | "unknown", PortJobState>;

function redisBackend(url: string): Backend {
  const retryStrategy = (attempt: number): number => Math.min(attempt * 100, 1_000);
  return {
    kind: "redis",
    openProducer: (name, onError) => {
      const failFast = { enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: COMMAND_TIMEOUT_MS };
      const client = new Redis(url, { ...failFast, connectTimeout: CONNECT_TIMEOUT_MS, retryStrategy });
      const queue = new BullQueue<GenerationJob, void>(name, { connection: client, ...producerOptions() });
      queue.on("error", onError);
      return {
        queue,
        isReachable: () => !["reconnecting", "close", "end"].includes(client.status),
        // BullMQ leaves a client it was given open.
        close: () => queue.close().finally(() => client.disconnect()),
      };
    },
    openWorker: (name, processor, settings) => {
      const client = new Redis(url, { maxRetriesPerRequest: null, retryStrategy });
      const options = { connection: client, ...workerOptions(settings) };
      return {
        worker: new Worker<GenerationJob, void>(name, processor, options),
        isReachable: () => client.status === "ready",
        dispose: () => client.disconnect(),
      };
    },
  };
}

function postgresBackend(url: string): Backend {
  // BullMQ makes its tables in a schema of its own, `bullmq`, as the login user.
  const connection = {
    connectionString: url,
    migrate: true,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: COMMAND_TIMEOUT_MS,
    application_name: "shiftwork-queue",
  };
  return {
    kind: "postgres",
    openProducer: (name, onError) => {
      const queue = new OnPostgres.Queue<GenerationJob, void>(name, { connection, ...producerOptions() });
      queue.on("error", onError);
      return { queue, isReachable: () => true, close: () => queue.close() };
    },
    openWorker: (name, processor, settings) => ({
      worker: new OnPostgres.Worker<GenerationJob, void>(name, processor, { connection, ...workerOptions(settings) }),
      isReachable: () => true,
      dispose: () => undefined,
    }),
  };
}

function producerOptions() {
  return { streams: { events: { maxLen: KEPT_EVENTS } } } as const;
}

/** Ages and `drainDelay` are in seconds, the rest in milliseconds. A finished job is kept so that its id stays taken. */
function workerOptions(settings: WorkerSettings) {
  return {
    ...settings,
    autorun: false,
    maxStalledCount: 3,
    drainDelay: 1,
    // How long a worker sits out after losing its server; the default of 15 s would eat into the deadlines we promise.
    runRetryDelay: 1_000,
    removeOnComplete: { age: 600, count: 5_000 },
    removeOnFail: { age: 3_600, count: 5_000 },
    metrics: { maxDataPoints: 1_440 },
  };
}
