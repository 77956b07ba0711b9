import { LORE_POSITIONS, SELECTIVE_LOGICS, WORD_BOUNDARIES } from "@shiftwork/pipeline";
import { z } from "zod";
import { Name, publicId, Text, Timestamp } from "./fields.ts";

/** Where a book applies: one chat, every chat with a persona or a character, or every chat of the tenant. */
export const LorebookBinding = z.union([
  z.strictObject({ chatId: publicId("chat") }),
  z.strictObject({ characterId: publicId("character") }),
  z.strictObject({ personaId: publicId("persona") }),
  z.strictObject({ global: z.literal(true) }),
]);
export type LorebookBinding = z.infer<typeof LorebookBinding>;

const smallCount = z.number().int().min(0).max(10_000);

/** An entry as written. Defaults are those of a new world-info entry; `null` inherits from the book or the settings. */
export const CreateLoreEntry = z.strictObject({
  title: z.string().max(1000).default(""),
  keys: z.array(z.string().max(10_000)).max(1000).default([]),
  secondaryKeys: z.array(z.string().max(10_000)).max(1000).default([]),
  selective: z.boolean().default(true),
  selectiveLogic: z.enum(SELECTIVE_LOGICS).default("and_any"),
  content: Text.default(""),
  constant: z.boolean().default(false),
  enabled: z.boolean().default(true),
  required: z.boolean().nullable().default(null),
  order: z.number().int().min(-1_000_000).max(1_000_000).default(100),
  position: z.enum(LORE_POSITIONS).default("before_character"),
  depth: smallCount.default(4),
  role: z.enum(["system", "user", "assistant"]).default("system"),
  outletName: z.string().max(500).default(""),
  probability: z.number().min(0).max(100).default(100),
  useProbability: z.boolean().default(true),
  scanDepth: smallCount.nullable().default(null),
  caseSensitive: z.boolean().nullable().default(null),
  matchWholeWords: z.boolean().nullable().default(null),
  ignoreBudget: z.boolean().default(false),
  triggers: z.array(z.string().max(100)).max(20).default([]),
  characterFilter: z
    .strictObject({
      exclude: z.boolean().default(false),
      names: z.array(z.string().max(500)).max(1000).default([]),
      tags: z.array(z.string().max(500)).max(1000).default([]),
    })
    .default({ exclude: false, names: [], tags: [] }),
});
export type CreateLoreEntry = z.infer<typeof CreateLoreEntry>;

/** Body of `POST /lorebooks`. A book without bindings applies only where a request names it. */
export const CreateLorebook = z.strictObject({
  name: Name,
  scanDepth: smallCount.nullable().default(null),
  budgetTokens: z.number().int().min(1).max(10_000_000).nullable().default(null),
  wordBoundaries: z.enum(WORD_BOUNDARIES).default("unicode"),
  bindings: z.array(LorebookBinding).max(100).default([]),
  entries: z.array(CreateLoreEntry).max(10_000).default([]),
});
export type CreateLorebook = z.infer<typeof CreateLorebook>;

export const LorebookObject = z.object({
  id: publicId("lorebook"),
  object: z.literal("lorebook"),
  name: z.string(),
  scanDepth: z.number().int().nullable(),
  budgetTokens: z.number().int().nullable(),
  wordBoundaries: z.enum(WORD_BOUNDARIES),
  bindings: z.array(LorebookBinding),
  entryCount: z.number().int(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type LorebookObject = z.infer<typeof LorebookObject>;

export const LoreEntryObject = z.object({
  id: publicId("loreEntry"),
  object: z.literal("lore_entry"),
  lorebookId: publicId("lorebook"),
  uid: z.number().int(),
  title: z.string(),
  keys: z.array(z.string()),
  secondaryKeys: z.array(z.string()),
  selective: z.boolean(),
  selectiveLogic: z.enum(SELECTIVE_LOGICS),
  content: z.string(),
  constant: z.boolean(),
  enabled: z.boolean(),
  required: z.boolean().nullable(),
  order: z.number(),
  position: z.enum(LORE_POSITIONS),
  depth: z.number(),
  role: z.enum(["system", "user", "assistant"]),
  outletName: z.string(),
  probability: z.number(),
  useProbability: z.boolean(),
  scanDepth: z.number().nullable(),
  caseSensitive: z.boolean().nullable(),
  matchWholeWords: z.boolean().nullable(),
  ignoreBudget: z.boolean(),
  triggers: z.array(z.string()),
  characterFilter: z.object({ exclude: z.boolean(), names: z.array(z.string()), tags: z.array(z.string()) }),
  createdAt: Timestamp,
});
export type LoreEntryObject = z.infer<typeof LoreEntryObject>;
