import { z } from "zod";
import { Metadata, publicId, Timestamp } from "./fields.ts";
import { levelFields } from "./settings.ts";

/** What a chat chooses for its turns; a request wins over it, the character's and the tenant's settings stand below it. */
export const ChatSettingsObject = z.strictObject(levelFields).partial();
export type ChatSettingsObject = z.infer<typeof ChatSettingsObject>;

/** Body of `POST /chats`. With a character its first message opens the chat, unless `greeting` is false. */
export const CreateChat = z.strictObject({
  title: z.string().max(1000).default(""),
  characterId: publicId("character").nullable().default(null),
  personaId: publicId("persona").nullable().default(null),
  /** Opaque id of the end user; requests in that user's name see this chat, others in a user's name do not. */
  ownerId: z.string().min(1).max(200).optional(),
  greeting: z.boolean().default(true),
  settings: ChatSettingsObject.default({}),
  metadata: Metadata.default({}),
});
export type CreateChat = z.infer<typeof CreateChat>;

export const ChatObject = z.object({
  id: publicId("chat"),
  object: z.literal("chat"),
  title: z.string(),
  characterId: publicId("character").nullable(),
  personaId: publicId("persona").nullable(),
  ownerId: z.string().nullable(),
  /** +1 whenever a message is added, changed or removed, or another branch becomes the active one. */
  revision: z.number().int(),
  /** Number of the branch that the chat shows and sends. */
  activeBranch: z.number().int(),
  settings: ChatSettingsObject,
  metadata: Metadata,
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type ChatObject = z.infer<typeof ChatObject>;
