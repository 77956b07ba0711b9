import { ImportError } from "./errors.ts";

const MIB = 1024 * 1024;

/** Upper bounds of an import; what is above is refused before it is inflated, parsed or copied. */
export const IMPORT_LIMITS = {
  /** Bytes of a card or lorebook file. */
  fileBytes: 32 * MIB,
  /** Bytes of a chat file: long chats with many variants are larger than any card. */
  chatFileBytes: 64 * MIB,
  /** Bytes of the decoded JSON of a card or lorebook. */
  jsonBytes: 8 * MIB,
  /** Bytes of one text chunk of a PNG after inflating: `jsonBytes` in base64 with room for line breaks. */
  chunkTextBytes: 12 * MIB,
  /** Nested arrays and objects. */
  jsonDepth: 64,
  /** Entries of one lorebook. */
  lorebookEntries: 10_000,
  /** Keys of one lorebook, primary and secondary: each one between slashes is compiled once to see whether it can be. */
  lorebookKeys: 200_000,
  /** Lines of a chat file, empty ones included. */
  chatLines: 100_000,
  /** Bytes of one line of a chat file: old files hold images in them. */
  chatLineBytes: 8 * MIB,
} as const;
export type ImportLimit = keyof typeof IMPORT_LIMITS;

const UNITS: { readonly [limit in ImportLimit]: string } = {
  fileBytes: "bytes in the file",
  chatFileBytes: "bytes in the chat file",
  jsonBytes: "bytes of JSON",
  chunkTextBytes: "bytes in a PNG text chunk",
  jsonDepth: "nested levels",
  lorebookEntries: "lorebook entries",
  lorebookKeys: "lorebook keys",
  chatLines: "lines in the chat file",
  chatLineBytes: "bytes in one line",
};

/** @throws ImportError `limit_exceeded`, naming the limit, when `actual` is above it. */
export function requireWithin(limit: ImportLimit, actual: number, place: { line?: number; field?: string } = {}): void {
  if (actual > IMPORT_LIMITS[limit]) throw limitExceeded(limit, place);
}

/** The error of a limit found exceeded by someone else, such as the inflater. */
export function limitExceeded(limit: ImportLimit, place: { line?: number; field?: string } = {}): ImportError {
  const most = IMPORT_LIMITS[limit].toLocaleString("en-US");
  const message = `The file is above the limit ${limit}: at most ${most} ${UNITS[limit]}.`;
  return new ImportError("limit_exceeded", message, "Split the file, or remove what is not text.", place);
}
