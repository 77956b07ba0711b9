import { newId, openDatabase, requestCancel, withTenant, type Database } from "@shiftwork/db";
import { insertTestChat, openTestDatabase, type TestChat } from "@shiftwork/db/testing";
import {
  createLogger,
  loadPlugins,
  openFrameWriter,
  openPostgresEventLog,
  openQueue,
  openRedisEventLog,
  type EventLog,
  type FrameWriter,
  type LoadedPlugins,
  type Logger,
  type Queue,
} from "@shiftwork/platform";
import { createUseLite } from "@shiftwork/providers";
import type { GenerationEvent } from "@shiftwork/contracts";
import { isTerminalEvent } from "@shiftwork/contracts";
import { WorkerConfig } from "../config.ts";
import { startWorker, type RunningWorker } from "../worker.ts";

/** A database, a queue and a worker with short intervals, for tests of whole runs. */
export interface Bench {
  readonly url: string;
  readonly admin: Database;
  readonly api: Database;
  readonly worker: Database;
  readonly queue: Queue;
  readonly events: EventLog;
  /** Every line its workers have logged. */
  readonly logged: readonly { readonly [field: string]: unknown }[];
  /** `null` = they go into the database. */
  readonly frames: FrameWriter | null;
  startWorker(overrides?: Partial<Omit<WorkerConfig, "PLUGINS">>, plugins?: readonly string[]): Promise<RunningWorker>;
  /** A chat whose provider is at `baseUrl`. */
  chatWith(baseUrl: string): Promise<TestChat>;
  /** Resolves with all events once `until` holds for one of them. */
  eventsUntil(
    chat: TestChat,
    generationId: string,
    until: (event: GenerationEvent) => boolean,
  ): Promise<readonly GenerationEvent[]>;
  /** Resolves with all events once the generation has ended. */
  ended(chat: TestChat, generationId: string): Promise<readonly GenerationEvent[]>;
  /** Every reply that is stored in the chat's tenant. */
  replies(chat: TestChat): Promise<readonly { readonly content: string; readonly partial: boolean }[]>;
  /** Accepts a cancel, as the API does. */
  cancel(chat: TestChat, generationId: string): Promise<void>;
  close(): Promise<void>;
}

const FAST = {
  HEARTBEAT_MS: 50,
  WORKER_DEAD_AFTER_MS: 1_000,
  // Test and worker share one event loop: loading a module is no reason to take no jobs.
  EVENT_LOOP_LAG_LIMIT_MS: 60_000,
  LEASE_MS: 600,
  DISPATCH_INTERVAL_MS: 50,
  RECONCILE_INTERVAL_MS: 50,
  UNCLAIMED_AFTER_MS: 500,
  DEADLINE_GRACE_MS: 200,
  FRAME_MS: 5,
  PROVIDER_RETRY_BASE_MS: 2,
  EMBEDDING_INTERVAL_MS: 20,
} as const satisfies Partial<WorkerConfig>;

function rememberingLogger(): { readonly logged: Bench["logged"]; readonly logger: Logger } {
  const logged: { readonly [field: string]: unknown }[] = [];
  const destination = { write: (line: string) => void logged.push(JSON.parse(line)) };
  return { logged, logger: createLogger({ level: "info", name: "test", destination }) };
}

/** With `framesAt`, a Redis server's URL, replies stream through that. */
export async function openBench(
  serverUrl: string,
  redisUrl: string | null,
  framesAt: string | null = null,
): Promise<Bench> {
  const test = await openTestDatabase(serverUrl);
  const open = (role: "shiftwork_admin" | "shiftwork_api" | "shiftwork_worker") =>
    openDatabase({ url: test.url, role, maxConnections: 8, applicationName: "test" });
  const [admin, api, worker] = [open("shiftwork_admin"), open("shiftwork_api"), open("shiftwork_worker")];
  const name = `test-${newId()}`;
  const queue = openQueue({ name, url: redisUrl ?? test.url, onError: () => {} });
  const inRedis = framesAt === null ? null : { url: framesAt, name, retentionMs: 600_000, onError: () => {} };
  const events = inRedis === null ? await openPostgresEventLog(api) : await openRedisEventLog(api, inRedis);
  const frames = inRedis && openFrameWriter(inRedis);
  const eventsUntil = eventsOf(events);
  const workers: RunningWorker[] = [];
  const loaded: LoadedPlugins[] = [];
  const { logged, logger } = rememberingLogger();
  const useLite = createUseLite();

  return {
    url: test.url,
    admin,
    api,
    worker,
    queue,
    events,
    logged,
    frames,
    async startWorker(overrides = {}, plugins = []) {
      const config = WorkerConfig.parse({
        DATABASE_URL: test.url,
        MASTER_KEY: Buffer.alloc(32, 7).toString("base64"),
        WORKER_CONCURRENCY: 8,
        ...FAST,
        ...overrides,
      });
      const own = await loadPlugins(plugins);
      loaded.push(own);
      await own.warmUp();
      const started = await startWorker({
        database: worker,
        queue,
        frames,
        logger,
        config,
        plugins: own,
        useLite,
        masterKey: Buffer.alloc(32, 7),
        row: { id: newId(), host: "test", pid: process.pid, slots: config.WORKER_CONCURRENCY },
      });
      workers.push(started);
      return started;
    },
    chatWith: (baseUrl) => chatAt(baseUrl, admin, api),
    eventsUntil,
    ended: (chat, generationId) => eventsUntil(chat, generationId, (event) => isTerminalEvent(event.type)),
    replies: ({ tenantId }) =>
      withTenant(api.db, tenantId, (tx) =>
        tx
          .selectFrom("messages")
          .select(["content", "partial"])
          .where("tenant_id", "=", tenantId)
          .where("role", "=", "assistant")
          .execute(),
      ),
    async cancel({ tenantId }, generationId) {
      await withTenant(api.db, tenantId, (tx) => requestCancel(tx, tenantId, generationId, null));
    },
    async close() {
      for (const started of workers) await started.stop(0);
      for (const plugins of loaded) await plugins.close();
      await useLite.close();
      await events.close();
      frames?.close();
      await queue.close();
      for (const database of [admin, api, worker]) await database.close();
      await test.drop();
    },
  };
}

async function chatAt(baseUrl: string, admin: Database, api: Database): Promise<TestChat> {
  const chat = await insertTestChat(admin.db, api.db);
  await withTenant(admin.db, chat.tenantId, (tx) =>
    tx
      .updateTable("providers")
      .set({ kind: "openai-compatible", base_url: baseUrl, allow_private_network: true })
      .where("tenant_id", "=", chat.tenantId)
      .where("id", "=", chat.providerId)
      .execute(),
  );
  return chat;
}

/** Looks again at every signal. */
function eventsOf(events: EventLog): Bench["eventsUntil"] {
  return (chat, generationId, until) =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        events
          .read(chat.tenantId, generationId, 0, 10_000)
          .then((seen) => {
            if (!seen.some(until)) return;
            stop();
            resolve(seen);
          })
          .catch(reject);
      };
      const stop = events.subscribe(generationId, look);
      look();
    });
}
