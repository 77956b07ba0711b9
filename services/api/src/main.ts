import { assertRoleIsBound, openDatabase } from "@shiftwork/db";
import { createLogger, loadPlugins, openPostgresEventLog, openQueue, readMasterKey } from "@shiftwork/platform";
import closeWithGrace from "close-with-grace";
import { createApp } from "./app.ts";
import { readApiConfig } from "./config.ts";
import { HttpProblem } from "./errors.ts";
import { createStreamRegistry } from "./events/stream-registry.ts";
import { checkReadiness } from "./health/check-readiness.ts";
import { previewsInThread } from "./preview/previews-in-thread.ts";
import { packageVersion } from "./version.ts";

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
await assertRoleIsBound(database);
const eventLog = await openPostgresEventLog(database);
const queue = openQueue({
  name: config.QUEUE_NAME,
  url: config.REDIS_URL ?? config.DATABASE_URL,
  onError: (error) => logger.warn({ err: error }, "queue error"),
});

let draining = false;
const shuttingDown = () => new HttpProblem("SHUTTING_DOWN", "This process is shutting down.", { retryAfterSeconds: 1 });
const app = await createApp({
  db: database.db,
  queue,
  eventLog,
  streams: createStreamRegistry(),
  logger,
  pepper: config.API_KEY_PEPPER,
  version: packageVersion(),
  plugins,
  previewer,
  readiness: async () => (draining ? shuttingDown() : checkReadiness(database)),
});
await app.listen({ host: config.HOST, port: config.PORT });

// Streams end with `retry:` so that clients reconnect elsewhere; other open requests are answered. A second signal
// ends the process at once with 1; so does a drain that does not come to an end.
closeWithGrace({ delay: config.DRAIN_TIMEOUT_MS, logger }, async ({ err }) => {
  draining = true;
  if (err) logger.error({ err }, "unexpected error; shutting down");
  await app.close();
  await previewer.close();
  await plugins.close();
  await eventLog.close();
  await queue.close();
  await database.close();
});
