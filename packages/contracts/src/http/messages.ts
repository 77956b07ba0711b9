import { ROLES } from "@shiftwork/pipeline";
import { z } from "zod";
import { PageQuery, publicId, Text, Timestamp } from "./fields.ts";

const ToolCallObject = z.strictObject({
  id: z.string().min(1).max(200),
  name: z.string().min(1).max(200),
  /** JSON text, as the model wrote it. */
  arguments: Text,
});

/** Body of `POST /chats/:chatId/messages`: appends one message, without generating anything. */
export const CreateMessage = z
  .strictObject({
    role: z.enum(ROLES).default("user"),
    content: Text,
    name: z.string().max(500).nullable().default(null),
    toolCalls: z.array(ToolCallObject).max(128).default([]),
    toolCallId: z.string().min(1).max(200).nullable().default(null),
    pinned: z.boolean().default(false),
    hidden: z.boolean().default(false),
    /** Opaque, stored and given back. */
    meta: z.record(z.string(), z.unknown()).default({}),
  })
  .refine((message) => message.role === "assistant" || message.toolCalls.length === 0, {
    path: ["toolCalls"],
    message: "only an assistant message makes calls",
  })
  .refine((message) => (message.role === "tool") === (message.toolCallId !== null), {
    path: ["toolCallId"],
    message: "a tool message needs it, no other message has it",
  });
export type CreateMessage = z.infer<typeof CreateMessage>;

/** `active` (default): what the chat shows. `all`: the alternatives that were not chosen too. */
export const MessageQuery = PageQuery.extend({ variants: z.enum(["active", "all"]).default("active") });

export const MessageObject = z.object({
  id: publicId("message"),
  object: z.literal("message"),
  chatId: publicId("chat"),
  branch: z.number().int(),
  seq: z.number().int(),
  variant: z.number().int(),
  active: z.boolean(),
  role: z.enum(ROLES),
  content: z.string(),
  name: z.string().nullable(),
  toolCalls: z.array(ToolCallObject),
  toolCallId: z.string().nullable(),
  pinned: z.boolean(),
  hidden: z.boolean(),
  /** Text of a run that did not complete. */
  partial: z.boolean(),
  /** Partial text of a failed run: shown, never sent. */
  failed: z.boolean(),
  generationId: publicId("generation").nullable(),
  meta: z.record(z.string(), z.unknown()),
  createdAt: Timestamp,
});
export type MessageObject = z.infer<typeof MessageObject>;
