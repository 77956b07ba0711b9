import type { z } from "zod";
import { describeConfig } from "./describe-config.ts";
import { maskUrl } from "./mask-url.ts";

const MASK = "***";

/** The settings for a log line or a screen: secrets and the passwords in URLs replaced by `***`. */
export function maskConfig<Schema extends z.ZodObject>(
  schema: Schema,
  config: z.infer<Schema>,
): Readonly<Record<string, unknown>> {
  const values: Readonly<Record<string, unknown>> = config;
  const masked = describeConfig(schema).map(({ name, secret }) => [name, maskValue(values[name], secret)] as const);
  return Object.fromEntries(masked.filter(([, value]) => value !== undefined));
}

function maskValue(value: unknown, secret: boolean): unknown {
  if (value === undefined) return undefined;
  if (secret) return MASK;
  return typeof value === "string" ? maskUrl(value) : value;
}
