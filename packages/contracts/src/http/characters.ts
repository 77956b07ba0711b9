import { z } from "zod";
import { Name, publicId, Text, Timestamp } from "./fields.ts";

const fields = {
  nickname: Text.default(""),
  description: Text.default(""),
  personality: Text.default(""),
  scenario: Text.default(""),
  firstMessage: Text.default(""),
  alternateGreetings: z.array(Text).max(1000).default([]),
  messageExamples: Text.default(""),
  systemPrompt: Text.default(""),
  postHistoryInstructions: Text.default(""),
  creatorNotes: Text.default(""),
  tags: z.array(z.string().max(500)).max(1000).default([]),
  creator: Text.default(""),
  characterVersion: Text.default(""),
};

/** Body of `POST /characters`. Field meanings follow card spec V3; text left out is empty. */
export const CreateCharacter = z.strictObject({ name: Name, ...fields });
export type CreateCharacter = z.infer<typeof CreateCharacter>;

export const CharacterObject = z.object({
  id: publicId("character"),
  object: z.literal("character"),
  name: z.string(),
  nickname: z.string(),
  description: z.string(),
  personality: z.string(),
  scenario: z.string(),
  firstMessage: z.string(),
  alternateGreetings: z.array(z.string()),
  messageExamples: z.string(),
  systemPrompt: z.string(),
  postHistoryInstructions: z.string(),
  creatorNotes: z.string(),
  tags: z.array(z.string()),
  creator: z.string(),
  characterVersion: z.string(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type CharacterObject = z.infer<typeof CharacterObject>;
