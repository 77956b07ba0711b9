import { hostname } from "node:os";
import { assertRoleIsBound, newId, openDatabase } from "@shiftwork/db";
import {
  createLogger,
  loadPlugins,
  openFrameWriter,
  openQueue,
  readMasterKey,
  redisOfEventLog,
} from "@shiftwork/platform";
import { createUseLite } from "@shiftwork/providers";
import closeWithGrace from "close-with-grace";
import { readWorkerConfig } from "./config.ts";
import { startWorker } from "./worker.ts";

const config = readWorkerConfig();
const logger = createLogger({ level: config.LOG_LEVEL, name: "worker", showContent: config.LOG_CONTENT });
const plugins = await loadPlugins(config.PLUGINS);
await plugins.warmUp();

const database = openDatabase({
  url: config.DATABASE_URL,
  role: "shiftwork_worker",
  maxConnections: config.DATABASE_POOL,
  applicationName: "shiftwork-worker",
});
await assertRoleIsBound(database);
const queue = openQueue({
  name: config.QUEUE_NAME,
  url: config.REDIS_URL ?? config.DATABASE_URL,
  onError: (error) => logger.warn({ err: error }, "queue error"),
});
const useLite = createUseLite();
const framesUrl = redisOfEventLog(config);
const frames =
  framesUrl === null
    ? null
    : openFrameWriter({
        url: framesUrl,
        name: config.QUEUE_NAME,
        retentionMs: config.EVENT_RETENTION_MS,
        onError: (error) => logger.warn({ err: error }, "event log error"),
      });
const worker = await startWorker({
  database,
  queue,
  frames,
  logger,
  config,
  plugins,
  useLite,
  masterKey: readMasterKey(config.MASTER_KEY),
  row: { id: newId(), host: hostname(), pid: process.pid, slots: config.WORKER_CONCURRENCY },
});

// A second signal ends the process at once with 1; so does a drain that does not come to an end.
closeWithGrace({ delay: config.DRAIN_TIMEOUT_MS + 15_000, logger }, async ({ err }) => {
  if (err) logger.error({ err }, "unexpected error; shutting down");
  await worker.stop(config.DRAIN_TIMEOUT_MS);
  await plugins.close();
  await useLite.close();
  frames?.close();
  await queue.close();
  await database.close();
});
