import { z } from "zod";
import { publicId, Timestamp } from "./fields.ts";

/** A worker process. */
export const WorkerObject = z.object({
  id: publicId("worker"),
  object: z.literal("worker"),
  host: z.string(),
  pid: z.number().int(),
  slots: z.number().int(),
  /** Slots taken: generations it runs. */
  busy: z.number().int(),
  startedAt: Timestamp,
  heartbeatAt: Timestamp,
  heartbeatAgeMs: z.number().int(),
  /** Heard of lately; a dead one's runs go back into the line. */
  alive: z.boolean(),
  /** Dispatches and repairs for all. */
  leads: z.boolean(),
});
export type WorkerObject = z.infer<typeof WorkerObject>;

const Part = z.enum(["ok", "failing"]);
const PausablePart = z.enum(["ok", "paused", "failing"]);

/**
 * `failing` as a whole = 503. `paused` = all is well, and turns wait because an operator wants it so. `workers` counts the
 * living; without one, or without a leader, turns wait.
 */
export const HealthObject = z.object({
  status: PausablePart,
  database: Part,
  queue: PausablePart,
  leader: Part,
  workers: z.object({ status: Part, alive: z.number().int(), slots: z.number().int() }),
});
export type HealthObject = z.infer<typeof HealthObject>;

const queueCounts = {
  /** Can be handed out. */
  waiting: z.number().int(),
  /** Wait for the one before them in their chat. */
  blocked: z.number().int(),
  /** Wait for a time a provider told. */
  toldToWait: z.number().int(),
  /** Handed out and not begun. */
  dispatched: z.number().int(),
  running: z.number().int(),
  /** Of the one that has waited longest; `null` = none waits. */
  oldestWaitMs: z.number().nullable(),
};

/** Where a tenant's active generations stand, or those of all. */
export const QueueStats = z.object({
  object: z.literal("queue_stats"),
  name: z.string(),
  paused: z.boolean(),
  ...queueCounts,
  /** The longest wait first, given where the numbers are those of all tenants. */
  tenants: z.array(z.object({ tenantId: publicId("tenant"), ...queueCounts })).optional(),
});
export type QueueStats = z.infer<typeof QueueStats>;

export const QueueObject = z.object({ object: z.literal("queue"), name: z.string(), paused: z.boolean() });
export const TenantStateObject = z.object({
  id: publicId("tenant"),
  object: z.literal("tenant"),
  paused: z.boolean(),
});
