import { ROLES } from "@shiftwork/pipeline";
import { z } from "zod";
import { BranchNumber } from "./branches.ts";
import { PageQuery, publicId, Text, Timestamp } from "./fields.ts";

const ToolCallObject = z.strictObject({
  id: z.string().min(1).max(200),
  name: z.string().min(1).max(200),
  /** JSON text, as the model wrote it. */
  arguments: Text,
});

/** The imported line of a message; nobody else writes it. */
const RESERVED_KEY = "source";

/** What turns read of `meta`; the other keys are the caller's, stored and given back unread. */
const marks = {
  /** The strategy `manual` leaves the message out, unless something protects it. */
  manualExcluded: z.boolean(),
  /** A system message that may leave when the window is full. */
  optional: z.boolean(),
} as const;

const withoutReservedKey = (meta: object): boolean => !Object.hasOwn(meta, RESERVED_KEY);
const reserved = { path: [RESERVED_KEY], message: "is kept for what an import stored", params: { fix: "Remove it." } };
const Meta = z.looseObject(marks).partial().refine(withoutReservedKey, reserved);
const MetaChange = z
  .looseObject({ manualExcluded: marks.manualExcluded.nullable(), optional: marks.optional.nullable() })
  .partial()
  .refine(withoutReservedKey, reserved);

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
    meta: Meta.default({}),
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

/**
 * Body of `PATCH /chats/:chatId/messages/:messageId`: what is left out stays. `meta` is joined key by key, `null` takes a
 * key out.
 */
export const PatchMessage = z
  .strictObject({ content: Text, pinned: z.boolean(), hidden: z.boolean(), meta: MetaChange })
  .partial();
export type PatchMessage = z.infer<typeof PatchMessage>;

/**
 * `variants`: `active` (default) = what the chat shows, `all` = the alternatives that were not chosen too. `branch`: the
 * messages from the chat's first to that branch's last; without it those of the active branch.
 */
export const MessageQuery = PageQuery.extend({
  variants: z.enum(["active", "all"]).default("active"),
  branch: BranchNumber.optional(),
});

export const MessageObject = z.object({
  id: publicId("message"),
  object: z.literal("message"),
  chatId: publicId("chat"),
  /** The branch it stands on; branches forked behind it have it too. */
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
