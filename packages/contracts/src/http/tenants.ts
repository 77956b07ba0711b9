import { z } from "zod";
import { Name, publicId, Timestamp } from "./fields.ts";

const MOST_AT_ONCE = 100_000;
const MOST_QUEUED = 10_000_000;

const limits = {
  /** Generations that run at once, at most. */
  maxConcurrency: z.number().int().min(1).max(MOST_AT_ONCE),
  /** Generations that may wait, at most; more are refused with `QUEUE_FULL`. */
  maxQueued: z.number().int().min(1).max(MOST_QUEUED),
  /** Its share of the slots against that of others. */
  weight: z.number().int().min(1).max(100),
  /** Generations that run at once while other tenants wait, at most; `null` = no such cap. */
  concurrencyShare: z.number().int().min(1).max(MOST_AT_ONCE).nullable(),
} as const;

/** Body of `POST /tenants`; limits default to 16 at once, 10,000 waiting, weight 1 and no share. */
export const CreateTenant = z.strictObject({
  name: Name,
  maxConcurrency: limits.maxConcurrency.default(16),
  maxQueued: limits.maxQueued.default(10_000),
  weight: limits.weight.default(1),
  concurrencyShare: limits.concurrencyShare.default(null),
});

/** Body of `PATCH /tenants/:tenantId`: what is left out stays. */
export const PatchTenant = z.strictObject({ name: Name, ...limits }).partial();

export const TenantObject = z.object({
  id: publicId("tenant"),
  object: z.literal("tenant"),
  name: z.string(),
  ...limits,
  /** `null` = its generations are started. */
  pausedAt: Timestamp.nullable(),
  createdAt: Timestamp,
});
export type TenantObject = z.infer<typeof TenantObject>;
