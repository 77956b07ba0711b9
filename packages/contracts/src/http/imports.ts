import { z } from "zod";
import { publicId, Timestamp } from "./fields.ts";

export const IMPORT_KINDS = ["card", "lorebook", "chat"] as const;
export type ImportKind = (typeof IMPORT_KINDS)[number];

/**
 * Form fields beside the file. For a chat: the character and persona it belongs to. For a lorebook: where it applies
 * (nothing given = every chat of the tenant).
 */
export const ImportFields = z.strictObject({
  characterId: publicId("character").optional(),
  personaId: publicId("persona").optional(),
  chatId: publicId("chat").optional(),
  title: z.string().max(1000).optional(),
  ownerId: z.string().min(1).max(200).optional(),
});
export type ImportFields = z.infer<typeof ImportFields>;

/** The whole form of `POST /imports`, for documentation: the file is read as a stream. */
export const ImportUpload = ImportFields.extend({ file: z.string().meta({ format: "binary" }) });

/** One thing the importer changed, left out or could not use. */
export const ImportWarningObject = z.object({
  code: z.string(),
  message: z.string(),
  path: z.string().nullable(),
  line: z.number().int().nullable(),
});

export const ImportCreated = z.object({
  characterId: publicId("character").nullable(),
  lorebookId: publicId("lorebook").nullable(),
  chatId: publicId("chat").nullable(),
  messages: z.number().int(),
  loreEntries: z.number().int(),
});
export type ImportCreated = z.infer<typeof ImportCreated>;

/** A finished import: what it made and what it had to say. */
export const ImportObject = z.object({
  id: publicId("import"),
  object: z.literal("import"),
  status: z.literal("completed"),
  kind: z.enum(IMPORT_KINDS),
  fileName: z.string().nullable(),
  created: ImportCreated,
  warnings: z.array(ImportWarningObject),
  createdAt: Timestamp,
});
export type ImportObject = z.infer<typeof ImportObject>;
