/** Why a file was refused. Closed and append-only. */
export const IMPORT_ERROR_REASONS = [
  "not_json",
  "root_not_object",
  "png_damaged",
  "card_missing",
  "card_encoding",
  "data_missing",
  "name_missing",
  "entries_missing",
  "format_unsupported",
  "no_messages",
  "limit_exceeded",
] as const;
export type ImportErrorReason = (typeof IMPORT_ERROR_REASONS)[number];

/** Where in the file: a JSON Pointer into the decoded document (`field`), or a line of the file, counted from 1. */
export interface ImportErrorPlace {
  readonly line?: number;
  readonly field?: string;
}

/** A file that cannot be imported: what is wrong, where, and what the sender can do. Nothing of it was kept. */
export class ImportError extends Error {
  readonly code = "IMPORT_INVALID";
  readonly reason: ImportErrorReason;
  readonly fix: string;
  readonly line: number | undefined;
  readonly field: string | undefined;

  constructor(reason: ImportErrorReason, message: string, fix: string, place: ImportErrorPlace = {}) {
    super(message);
    this.name = "ImportError";
    this.reason = reason;
    this.fix = fix;
    this.line = place.line;
    this.field = place.field;
  }
}

/** What an import repaired, skipped or does not act on. Closed and append-only. */
export const IMPORT_WARNING_CODES = [
  /** Another type than the format asks for, read as that type; or a required value that was absent, read as the default. */
  "value_coerced",
  /** A value of no use in its place; it survives in `source` only. */
  "value_dropped",
  /** Invalid UTF-8, U+0000 or half a surrogate pair, replaced by U+FFFD. */
  "text_repaired",
  /** A key that could reach an object's prototype, removed everywhere, `source` included. */
  "key_dropped",
  "chunk_fallback",
  "chunk_duplicate",
  "spec_unknown",
  "spec_newer",
  /** A V2/V3 field that stood only outside `data`, and was read from there. */
  "read_from_root",
  /** A root field that differs from the same field in `data`, which wins. */
  "root_ignored",
  /** Changes what a prompt holds in its own application, and nothing here; kept in `source`. */
  "feature_unsupported",
  /** Kept in `source`; no prompt depends on it. */
  "kept_unused",
  "key_invalid_regex",
  "key_blank",
  "entry_skipped",
  "entry_renumbered",
  "header_missing",
  "line_skipped",
  "line_truncated",
  "date_invalid",
  "variant_repaired",
  /** The list is full; the message says how many more there are. */
  "more_warnings",
] as const;
export type ImportWarningCode = (typeof IMPORT_WARNING_CODES)[number];

/** One thing an import did not take over as it stood. */
export interface ImportWarning {
  readonly code: ImportWarningCode;
  /** One sentence for a person. */
  readonly message: string;
  /** JSON Pointer into the decoded document, or into the object of `line`. */
  readonly path: string | null;
  /** Line of a line-based file, counted from 1. */
  readonly line: number | null;
}
