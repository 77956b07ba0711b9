import { eventLogKind, flag, list, readConfig, withEventLog } from "@shiftwork/platform";
import { z } from "zod";

const milliseconds = z.coerce.number().int().positive();

/** Everything the worker reads from its environment: units in the names, defaults beside them. */
export const WorkerConfig = z.object({
  DATABASE_URL: z
    .url()
    .describe(
      "postgres://user:password@host/database; with ?host=/run/postgresql by the socket there, which costs less",
    ),
  REDIS_URL: z.url().optional().describe("redis://…; unset = the queue runs on DATABASE_URL"),
  EVENT_LOG: eventLogKind().describe(
    "Where replies are kept while they stream, postgres or redis; unset = redis if there is a REDIS_URL. Same for API and workers",
  ),
  QUEUE_NAME: z.string().min(1).default("shiftwork").describe("Same for API and workers of one installation"),
  MASTER_KEY: z.base64().describe("32 random bytes, base64 (openssl rand -base64 32): seals the providers' secrets"),
  PLUGINS: list().describe(
    "Modules with strategies and interceptors, separated by commas; the same for API and workers of one installation",
  ),
  WORKER_CONCURRENCY: z.coerce.number().int().min(1).max(1000).default(32).describe("Generations run at once"),
  DATABASE_POOL: z.coerce.number().int().min(2).max(200).default(12).describe("Connections at most"),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
  LOG_CONTENT: flag().default(false).describe("Also log texts of messages, where an error holds some"),
  HEARTBEAT_MS: milliseconds.default(1_000).describe("Sign of life, and sweep for cancels"),
  WORKER_DEAD_AFTER_MS: milliseconds.default(6_000).describe("A worker silent for this long is dead"),
  EVENT_LOOP_LAG_LIMIT_MS: milliseconds
    .default(500)
    .describe("A process blocked for longer takes no new jobs until twice this time has passed without a block"),
  LEASE_MS: milliseconds.default(3_000).describe("A leader that does not renew for this long has lost the lead"),
  DISPATCH_INTERVAL_MS: milliseconds.default(500).describe("Looks for work even when no signal came"),
  RECONCILE_INTERVAL_MS: milliseconds.default(1_000),
  EMBEDDING_INTERVAL_MS: milliseconds.default(2_000).describe("Looks for texts that want vectors"),
  UNCLAIMED_AFTER_MS: milliseconds.default(5_000).describe("Dispatched and unclaimed for this long: ranked anew"),
  DEADLINE_GRACE_MS: milliseconds.default(5_000).describe("After the deadline, before the reconciler steps in"),
  DISPATCH_WINDOW: z.coerce.number().min(1).max(10).default(1.25).describe("In flight = living slots × this"),
  EVENT_RETENTION_MS: milliseconds.default(600_000).describe("Live events can be re-read for this long"),
  BULK_ACTIONS_KEPT_DAYS: z.coerce
    .number()
    .int()
    .min(1)
    .max(3_650)
    .default(90)
    .describe("Bulk actions can be looked up for this long after they ended"),
  FRAME_MS: milliseconds.default(30).describe("Longest a token waits for others"),
  FRAME_BYTES: z.coerce.number().int().positive().default(256).describe("A frame this large leaves at once"),
  PROVIDER_CONNECT_TIMEOUT_MS: milliseconds.default(10_000),
  PROVIDER_IDLE_TIMEOUT_MS: milliseconds.default(120_000).describe("Longest silence of a provider"),
  PROVIDER_RETRY_BASE_MS: milliseconds
    .default(500)
    .describe("Longest first pause before a failed request is sent again; doubles with each further one"),
  PROVIDER_RETRY_CAP_MS: milliseconds.default(8_000).describe("No pause before another try is drawn from more"),
  PROVIDER_WAIT_IN_PLACE_MS: milliseconds
    .default(5_000)
    .describe("A longer wait that a provider asks for gives the slot back"),
  PROVIDER_TOLD_WAITS: z.coerce
    .number()
    .int()
    .min(0)
    .max(100)
    .default(5)
    .describe("Waits for which one generation gives its slot back; after that it fails"),
  SUMMARY_TIMEOUT_MS: milliseconds
    .default(30_000)
    .describe("A model-written summary that takes longer is done without"),
  DRAIN_TIMEOUT_MS: milliseconds.default(30_000).describe("SIGTERM: running generations may go on for this long"),
});
export type WorkerConfig = z.infer<typeof WorkerConfig>;

/** The only reader of the environment. Throws one error that lists every bad value. */
export function readWorkerConfig(): WorkerConfig {
  return readConfig(withEventLog(WorkerConfig), process.env);
}
