import { z } from "zod";
import { publicId, Timestamp } from "./fields.ts";

/** Number of a branch in its chat, as a path or a query names it. */
export const BranchNumber = z.coerce.number().int().min(0).max(2_147_483_647);

/** Body of `POST /chats/:chatId/branches`: forks behind the message. `activate` false = the chat stays where it is. */
export const CreateBranch = z.strictObject({ messageId: publicId("message"), activate: z.boolean().default(true) });
export type CreateBranch = z.infer<typeof CreateBranch>;

/** A way through the chat. Branch 0 is the one it began with; every other one shares its parent's messages up to a fork. */
export const BranchObject = z.object({
  object: z.literal("branch"),
  chatId: publicId("chat"),
  branch: z.number().int(),
  /** `null` = branch 0. */
  parentBranch: z.number().int().nullable(),
  /** The last message it shares with its parent; `null` = none. */
  forkMessageId: publicId("message").nullable(),
  lastMessageId: publicId("message").nullable(),
  /** From the chat's first message to the branch's last, shared ones included. */
  messageCount: z.number().int(),
  /** Whether the chat shows and sends it. */
  active: z.boolean(),
  createdAt: Timestamp,
});
export type BranchObject = z.infer<typeof BranchObject>;
