import { eventLogKind, flag, list, port, readConfig, withEventLog } from "@shiftwork/platform";
import { z } from "zod";

/** How many may wait; 0 = none. */
const waiting = (most: number) => z.coerce.number().int().min(0).max(10_000).default(most);

/** Everything the API reads from its environment: units in the names, defaults beside them. */
export const ApiConfig = z.object({
  HOST: z.string().min(1).default("127.0.0.1").describe("Address to listen on; 0.0.0.0 = all"),
  PORT: port().default(3000).describe("Port to listen on; 0 = any free one"),
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
  API_KEY_PEPPER: z
    .string()
    .min(16)
    .describe("Keys the hashes of API keys, 16 characters or more; changing it makes every key invalid"),
  PLUGINS: list().describe(
    "Modules with strategies and interceptors, separated by commas; the same for API and workers of one installation",
  ),
  PREVIEWS_WAITING_PER_TENANT: waiting(20).describe("Previews of one tenant that wait at most; more are refused (429)"),
  PREVIEWS_WAITING: waiting(200).describe("Previews that wait at most, over all tenants; more are refused (503)"),
  DATABASE_POOL: z.coerce.number().int().min(2).max(200).default(12).describe("Connections at most"),
  ADMIN_DATABASE_POOL: z.coerce
    .number()
    .int()
    .min(1)
    .max(50)
    .default(3)
    .describe("Further connections at most, for lists across tenants and bulk actions"),
  WORKER_DEAD_AFTER_MS: z.coerce
    .number()
    .int()
    .positive()
    .default(6_000)
    .describe("A worker silent for this long is dead"),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info"),
  LOG_CONTENT: flag().default(false).describe("Also log texts of messages, where an error holds some"),
  DRAIN_TIMEOUT_MS: z.coerce
    .number()
    .int()
    .min(0)
    .default(30_000)
    .describe("SIGTERM: open requests may go on for this long"),
  MASTER_KEY: z.base64().optional().describe("The workers' key; without it previews call no model"),
});
export type ApiConfig = z.infer<typeof ApiConfig>;

/** The only reader of the environment. Throws one error that lists every bad value. */
export function readApiConfig(): ApiConfig {
  return readConfig(withEventLog(ApiConfig), process.env);
}

/** What `provision.ts` needs of the same environment. */
export const ProvisionConfig = ApiConfig.pick({ DATABASE_URL: true, API_KEY_PEPPER: true }).extend({
  MASTER_KEY: z.base64().describe("32 random bytes, base64 (openssl rand -base64 32): seals the providers' secrets"),
});

export function readProvisionConfig(): z.infer<typeof ProvisionConfig> {
  return readConfig(ProvisionConfig, process.env);
}

/** The value of one variable that a flag names: how a provider's key is handed over without a trace in the shell. */
export function readNamedVariable(name: string): string | null {
  return process.env[name] || null;
}
