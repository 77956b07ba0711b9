import type { ImportKind } from "@shiftwork/contracts";
import {
  detectFormat,
  ImportError,
  readCard,
  readChatJsonl,
  readLorebook,
  type BookImport,
  type CardImport,
  type ChatImport,
  type ImportWarning,
} from "@shiftwork/formats";
import type { ImportForm } from "./import-form.ts";

/** What a file holds. */
export type ImportedFile =
  | { readonly kind: "card"; readonly card: CardImport; readonly warnings: readonly ImportWarning[] }
  | { readonly kind: "lorebook"; readonly book: BookImport; readonly warnings: readonly ImportWarning[] }
  | { readonly kind: "chat"; readonly chat: ChatImport; readonly warnings: readonly ImportWarning[] };

/** Reads the file by its content. Throws `ImportError` naming the fault, before anything is stored. */
export function readFile({ bytes, fileName }: Pick<ImportForm, "bytes" | "fileName">): ImportedFile {
  const format = detectFormat(bytes, fileName ?? undefined);
  switch (format) {
    case "card-png":
    case "card-json": {
      const card = readCard(bytes);
      return { kind: "card", card, warnings: card.warnings };
    }
    case "lorebook-json": {
      const book = readLorebook(bytes);
      return { kind: "lorebook", book, warnings: book.warnings };
    }
    case "chat-jsonl": {
      const chat = readChatJsonl(bytes);
      return { kind: "chat", chat, warnings: chat.warnings };
    }
    case null:
      throw new ImportError(
        "format_unsupported",
        "The file is no character card, lorebook or chat.",
        "Send a card (PNG or JSON), a world-info or character_book JSON, or a chat as JSONL.",
      );
  }
}

/** The scope that the kind of file needs besides `imports:write`. */
export const KIND_SCOPES = {
  card: "authoring:write",
  lorebook: "lore:write",
  chat: "chats:write",
} as const satisfies Record<ImportKind, string>;
