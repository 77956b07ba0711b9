export { readCard, type CardImport } from "./cards/read-card.ts";
export { CARD_SPECS, type CardSpec } from "./cards/card-spec.ts";
export { type ImportedMessage } from "./chats/imported-message.ts";
export { readChatJsonl, type ChatImport } from "./chats/read-chat-jsonl.ts";
export { detectFormat, IMPORT_FORMATS, type ImportFormat } from "./detect-format.ts";
export {
  IMPORT_ERROR_REASONS,
  IMPORT_WARNING_CODES,
  ImportError,
  type ImportErrorPlace,
  type ImportErrorReason,
  type ImportWarning,
  type ImportWarningCode,
} from "./errors.ts";
export { IMPORT_LIMITS, type ImportLimit } from "./limits.ts";
export { readLorebook, type BookImport } from "./lorebooks/read-lorebook.ts";
