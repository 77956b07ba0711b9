import { encodeId } from "@shiftwork/contracts";
import {
  deleteFinishedAudit,
  deleteMessageTraces,
  findChatAudit,
  type AuditRow,
  type MessageRow,
  type Tx,
} from "@shiftwork/db";
import { auditContent } from "./audit-object.ts";

/**
 * Deletes what else holds the text of a message that is about to be deleted, the last audit included when the message, or
 * a summary that may tell of it, was in its prompt. Call under the lock of an idle chat. Returns the generations whose frames
 * are to be forgotten behind the commit.
 */
export async function forgetMessage(tx: Tx, tenantId: string, { id, chatId }: MessageRow): Promise<readonly string[]> {
  const { finished } = await findChatAudit(tx, tenantId, chatId);
  if (finished !== null && (await mayHold(finished, id))) await deleteFinishedAudit(tx, tenantId, chatId);
  const publicId = encodeId("message", id);
  const messages = `/api/v2/chats/${encodeId("chat", chatId)}/messages`;
  const answeredAt = [messages, `${messages}/${publicId}/select`];
  return deleteMessageTraces(tx, tenantId, { id, chatId, publicId, answeredAt });
}

async function mayHold(audit: AuditRow, messageId: string): Promise<boolean> {
  const content = await auditContent(audit);
  return content.blocks.some(({ source, refId }) => source === "summary" || refId === messageId);
}
