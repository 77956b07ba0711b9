import { MessageObject, PatchMessage } from "@shiftwork/contracts";
import { updateMessage as updateRow, withTenant, type MessageRow, type Tx } from "@shiftwork/db";
import { requireIdleChat, requireNotBeingAnswered } from "../../generations/require-idle-chat.ts";
import { entityTag, requireMatch, tagged } from "../../settings/entity-tag.ts";
import { endpoint } from "../endpoint.ts";
import { changedMeta } from "./changed-meta.ts";
import { lockMessage } from "./lock-message.ts";
import { messageObject } from "./message-object.ts";

export const updateMessage = endpoint({
  method: "PATCH",
  path: "/api/v2/chats/:chatId/messages/:messageId",
  tag: "Chats",
  summary: "Edit a message's text while nothing is generated, or change its marks for the next turn",
  scope: "chats:write",
  body: PatchMessage,
  result: MessageObject,
  statuses: [200],
  errors: ["CHAT_NOT_FOUND", "MESSAGE_NOT_FOUND", "CHAT_BUSY", "PRECONDITION_FAILED"],
  handle: async (deps, call) => {
    const { tenantId } = call.caller;
    const message = await withTenant(deps.db, tenantId, async (tx) => {
      const before = await lockMessage(tx, call);
      requireMatch(call.request, messageObject(before));
      await requireNothingBreaks(tx, tenantId, before, call.body);
      const next = changedMessage(before, call.body);
      // What changes nothing keeps the chat's revision, and the previews that were made on it.
      const same = entityTag(messageObject(next)) === entityTag(messageObject(before));
      if (!same) await updateRow(tx, tenantId, before, next);
      return next;
    });
    return tagged(messageObject(message));
  },
});

/** Marks are for the next turn; only hiding what is being answered would leave the running one without its input. */
async function requireNothingBreaks(
  tx: Tx,
  tenantId: string,
  message: MessageRow,
  { content, hidden }: PatchMessage,
): Promise<void> {
  if (content !== undefined) return requireIdleChat(tx, tenantId, message.chatId);
  if (hidden === true) await requireNotBeingAnswered(tx, tenantId, message);
}

function changedMessage(message: MessageRow, change: PatchMessage): MessageRow {
  return {
    ...message,
    content: change.content ?? message.content,
    pinned: change.pinned ?? message.pinned,
    hidden: change.hidden ?? message.hidden,
    meta: changedMeta(message.meta, change.meta ?? {}),
  };
}
