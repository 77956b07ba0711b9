import { encodeId, type IdKind, type MemoryObject } from "@shiftwork/contracts";
import type { MemoryRow } from "@shiftwork/db";

export function memoryObject(row: MemoryRow): MemoryObject {
  const idOrNull = (kind: IdKind, id: string | null) => (id === null ? null : encodeId(kind, id));
  return {
    id: encodeId("memory", row.id),
    object: "memory",
    chatId: idOrNull("chat", row.chatId),
    characterId: idOrNull("character", row.characterId),
    content: row.content,
    pinned: row.pinned,
    sourceMessageId: idOrNull("message", row.sourceMessageId),
    createdAt: row.createdAt.toISOString(),
  };
}
