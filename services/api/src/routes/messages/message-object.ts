import { encodeId, type MessageObject } from "@shiftwork/contracts";
import type { MessageRow } from "@shiftwork/db";

export function messageObject(row: MessageRow): MessageObject {
  // The imported line is kept for export; it repeats the text and is nobody's metadata.
  const { source: _source, ...meta } = row.meta as { [key: string]: unknown };
  return {
    id: encodeId("message", row.id),
    object: "message",
    chatId: encodeId("chat", row.chatId),
    branch: row.branch,
    seq: row.seq,
    variant: row.variant,
    active: row.active,
    role: row.role,
    content: row.content,
    name: row.name,
    toolCalls: [...row.toolCalls],
    toolCallId: row.toolCallId,
    pinned: row.pinned,
    hidden: row.hidden,
    partial: row.partial,
    failed: row.failed,
    generationId: row.generationId === null ? null : encodeId("generation", row.generationId),
    meta,
    createdAt: row.createdAt.toISOString(),
  };
}
