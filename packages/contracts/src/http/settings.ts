import { z } from "zod";
import { publicId, Text } from "./fields.ts";
import { RecallSetting } from "./recall.ts";

/** Largest window or reserve a setting may name, in tokens. */
const MOST_TOKENS = 100_000_000;

/** What may be chosen at every level below a request: chat, character, tenant. */
export const levelFields = {
  providerId: publicId("provider"),
  model: z.string().min(1).max(200),
  contextStrategy: z.string().min(1).max(100),
  /** Levels are joined option by option, the nearest wins. */
  strategyOptions: z.record(z.string().max(100), z.unknown()),
  contextLimit: z.number().int().min(2).max(MOST_TOKENS),
  reservedForReply: z.number().int().min(1).max(MOST_TOKENS),
  recall: RecallSetting,
} as const;

const tenantFields = {
  ...levelFields,
  mainPrompt: Text,
  postHistoryInstructions: Text,
  /** Audits, and what a generation was asked for, are kept this long after it ended; `null` = as long as their chat. */
  contentRetentionDays: z.number().int().min(1).max(3_650),
} as const;

/** Settings of a chat or a character; `null` = not chosen here, the next level decides. */
export const SettingsObject = z.object({ object: z.literal("settings"), ...nullable(levelFields) });
export type SettingsObject = z.infer<typeof SettingsObject>;

/** Settings of a tenant; `null` = the product's default. */
export const TenantSettingsObject = z.object({ object: z.literal("tenant_settings"), ...nullable(tenantFields) });
export type TenantSettingsObject = z.infer<typeof TenantSettingsObject>;

/** Body of `PATCH …/settings`: what is left out stays, `null` takes a choice back, `strategyOptions` is replaced whole. */
export const PatchSettings = z.strictObject(nullable(levelFields)).partial();
export type PatchSettings = z.infer<typeof PatchSettings>;

/** Body of `PATCH /settings`; as `PatchSettings`. */
export const PatchTenantSettings = z.strictObject(nullable(tenantFields)).partial();
export type PatchTenantSettings = z.infer<typeof PatchTenantSettings>;

type Nullable<Shape extends z.ZodRawShape> = { [Key in keyof Shape]: z.ZodNullable<Shape[Key]> };

function nullable<Shape extends { readonly [key: string]: z.ZodType }>(shape: Shape): Nullable<Shape> {
  const entries = Object.entries(shape).map(([name, field]) => [name, field.nullable()]);
  return Object.fromEntries(entries) as Nullable<Shape>;
}
