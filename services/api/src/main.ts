import { assertRoleIsBound, openDatabase } from "@shiftwork/db";
import {
  createLogger,
  createLoop,
  createTokenizers,
  loadPlugins,
  openPostgresEventLog,
  openQueue,
  openRedisEventLog,
  readMasterKey,
  redisOfEventLog,
} from "@shiftwork/platform";
import closeWithGrace from "close-with-grace";
import { randomUUID } from "node:crypto";
import { createApp } from "./app.ts";
import { runBulkActions } from "./bulk-actions/run-bulk-actions.ts";
import { readApiConfig } from "./config.ts";
import { HttpProblem } from "./errors.ts";
import { createStreamRegistry } from "./events/stream-registry.ts";
import { createHealthCheck } from "./health/check-health.ts";
import { checkReadiness } from "./health/check-readiness.ts";
import { previewsInThread } from "./preview/previews-in-thread.ts";
import { packageVersion } from "./version.ts";

/** Looks for bulk actions that other processes accepted, or left behind. */
const BULK_INTERVAL_MS = 1_000;
const BULK_BATCH_SIZE = 200;

const config = readApiConfig();
const logger = createLogger({ level: config.LOG_LEVEL, name: "api", showContent: config.LOG_CONTENT });
const plugins = await loadPlugins(config.PLUGINS);
const previewer = previewsInThread({
  databaseUrl: config.DATABASE_URL,
  plugins: config.PLUGINS,
  // Read here: a wrong one is told at start, not by the first preview.
  masterKey: config.MASTER_KEY === undefined ? null : readMasterKey(config.MASTER_KEY),
  mostWaiting: { ofTenant: config.PREVIEWS_WAITING_PER_TENANT, inAll: config.PREVIEWS_WAITING },
});

const database = openDatabase({
  url: config.DATABASE_URL,
  role: "shiftwork_api",
  maxConnections: config.DATABASE_POOL,
  applicationName: "shiftwork-api",
});
const admin = openDatabase({
  url: config.DATABASE_URL,
  role: "shiftwork_admin",
  maxConnections: config.ADMIN_DATABASE_POOL,
  applicationName: "shiftwork-api-admin",
});
await Promise.all([assertRoleIsBound(database), assertRoleIsBound(admin)]);
const framesUrl = redisOfEventLog(config);
const eventLog =
  framesUrl === null
    ? await openPostgresEventLog(database)
    : await openRedisEventLog(database, {
        url: framesUrl,
        name: config.QUEUE_NAME,
        onError: (error) => logger.warn({ err: error }, "event log error"),
      });
const queue = openQueue({
  name: config.QUEUE_NAME,
  url: config.REDIS_URL ?? config.DATABASE_URL,
  onError: (error) => logger.warn({ err: error }, "queue error"),
});

const runner = {
  db: database.db,
  adminDb: admin.db,
  queue,
  logger,
  plugins,
  holder: randomUUID(),
  batchSize: BULK_BATCH_SIZE,
};
const bulkActions = createLoop({
  name: "bulkActions",
  intervalMs: BULK_INTERVAL_MS,
  runOnce: (signal) => runBulkActions(runner, signal),
  onError: (name, error) => logger.warn({ err: error, loop: name }, "a loop's run failed"),
});

let draining = false;
const shuttingDown = () => new HttpProblem("SHUTTING_DOWN", "This process is shutting down.", { retryAfterSeconds: 1 });
const app = await createApp({
  db: database.db,
  adminDb: admin.db,
  queue,
  eventLog,
  streams: createStreamRegistry(),
  logger,
  pepper: config.API_KEY_PEPPER,
  version: packageVersion(),
  plugins,
  tokenizers: createTokenizers(),
  previewer,
  health: createHealthCheck({ adminDb: admin.db, queue, deadAfterMs: config.WORKER_DEAD_AFTER_MS }),
  wakeBulkActions: () => bulkActions.wake(),
  deadAfterMs: config.WORKER_DEAD_AFTER_MS,
  readiness: async () => (draining ? shuttingDown() : checkReadiness(database)),
});
bulkActions.start();
await app.listen({ host: config.HOST, port: config.PORT });

// Streams end with `retry:` so that clients reconnect elsewhere; other open requests are answered. A second signal
// ends the process at once with 1; so does a drain that does not come to an end.
closeWithGrace({ delay: config.DRAIN_TIMEOUT_MS, logger }, async ({ err }) => {
  draining = true;
  if (err) logger.error({ err }, "unexpected error; shutting down");
  await Promise.all([app.close(), bulkActions.stop()]);
  await previewer.close();
  await plugins.close();
  await eventLog.close();
  await queue.close();
  await Promise.all([database.close(), admin.close()]);
});
