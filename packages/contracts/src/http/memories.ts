import { z } from "zod";
import { PageQuery, publicId, Text, Timestamp } from "./fields.ts";

/** Body of `POST /memories`: a fact kept for one chat, or for every chat with one character. Exactly one of the two. */
export const CreateMemory = z
  .strictObject({
    chatId: publicId("chat").optional(),
    characterId: publicId("character").optional(),
    content: Text.min(1),
    pinned: z.boolean().default(false),
    sourceMessageId: publicId("message").optional(),
  })
  .refine((memory) => (memory.chatId === undefined) !== (memory.characterId === undefined), {
    path: ["chatId"],
    message: "exactly one of chatId and characterId is needed",
  });
export type CreateMemory = z.infer<typeof CreateMemory>;

export const MemoryQuery = PageQuery.extend({
  chatId: publicId("chat").optional(),
  characterId: publicId("character").optional(),
});

export const MemoryObject = z.object({
  id: publicId("memory"),
  object: z.literal("memory"),
  chatId: publicId("chat").nullable(),
  characterId: publicId("character").nullable(),
  content: z.string(),
  pinned: z.boolean(),
  sourceMessageId: publicId("message").nullable(),
  createdAt: Timestamp,
});
export type MemoryObject = z.infer<typeof MemoryObject>;
