import { encodeId, type IdKind, type ImportObject } from "@shiftwork/contracts";
import type { ImportRow } from "@shiftwork/db";
import type { ImportResult } from "../../imports/store-import.ts";

export function importObject(row: ImportRow): ImportObject {
  const result = row.result as ImportResult;
  const idOrNull = (kind: IdKind, id: string | null) => (id === null ? null : encodeId(kind, id));
  return {
    id: encodeId("import", row.id),
    object: "import",
    status: "completed",
    kind: row.kind as ImportObject["kind"],
    fileName: row.fileName,
    created: {
      characterId: idOrNull("character", result.characterId),
      lorebookId: idOrNull("lorebook", result.lorebookId),
      chatId: idOrNull("chat", result.chatId),
      messages: result.messages,
      loreEntries: result.loreEntries,
    },
    warnings: row.warnings as ImportObject["warnings"],
    createdAt: row.createdAt.toISOString(),
  };
}
