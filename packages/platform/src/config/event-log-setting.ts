import { z } from "zod";

/** What decides where replies are kept while they stream. */
interface EventLogSettings {
  readonly EVENT_LOG?: "postgres" | "redis" | undefined;
  readonly REDIS_URL?: string | undefined;
}

/** The setting `EVENT_LOG`: `postgres` or `redis`. */
export function eventLogKind(): z.ZodOptional<z.ZodEnum<{ postgres: "postgres"; redis: "redis" }>> {
  return z.enum(["postgres", "redis"]).optional();
}

/** Refuses `EVENT_LOG=redis` without a Redis; said together with whatever else is wrong. */
export function withEventLog<Schema extends z.ZodObject>(schema: Schema): Schema {
  const hasItsServer = ({ EVENT_LOG, REDIS_URL }: EventLogSettings): boolean =>
    EVENT_LOG !== "redis" || REDIS_URL !== undefined;
  return schema.refine(hasItsServer, { path: ["EVENT_LOG"], error: "redis needs REDIS_URL", when: () => true });
}

/** The Redis that replies stream through; `null` = they stream through the database. */
export function redisOfEventLog({ EVENT_LOG, REDIS_URL = "" }: EventLogSettings): string | null {
  return EVENT_LOG === "postgres" || REDIS_URL === "" ? null : REDIS_URL;
}
