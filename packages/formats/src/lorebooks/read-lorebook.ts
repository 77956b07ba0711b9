import type { LoreEntry, Lorebook } from "@shiftwork/pipeline";
import { ImportError, type ImportWarning } from "../errors.ts";
import { isRecord, ownValue, pointer, type JsonRecord } from "../json/record.ts";
import { parseJson } from "../json/parse-json.ts";
import { requireWithin } from "../limits.ts";
import { collectWarnings, type WarningCollector } from "../warnings.ts";
import { readBookSettings } from "./book-settings.ts";
import { entryRecord, type EntryDialect } from "./entry-dialect.ts";
import { assignUids, type KeyedEntry } from "./entry-uids.ts";
import { readEntry } from "./read-entry.ts";
import { unknownNames } from "./unknown-names.ts";
import { warnOfEntry } from "./warn-of-entry.ts";

/** A lorebook, read. */
export interface BookImport {
  /** `""` when the file does not say; its file name is then the name. */
  readonly name: string;
  readonly scanDepth: number | null;
  readonly budgetTokens: number | null;
  /** Always `ascii`: these books were written for an engine whose word boundaries are. */
  readonly wordBoundaries: Lorebook["wordBoundaries"];
  /** By ascending uid. */
  readonly entries: readonly Omit<LoreEntry, "id">[];
  /** The original object of each entry, in the order of `entries`. */
  readonly entrySources: readonly unknown[];
  /** The whole book as it stood. */
  readonly source: unknown;
  readonly warnings: readonly ImportWarning[];
}

/**
 * Reads a world-info file, a `character_book`, or a standalone `lorebook_v3`, from the file's bytes or from its JSON
 * value (which must come from `JSON.parse` of text within the limits).
 *
 * @throws ImportError `not_json`, `root_not_object`, `entries_missing`, `format_unsupported`, `limit_exceeded`.
 */
export function readLorebook(input: unknown): BookImport {
  const warnings = collectWarnings();
  const { book, path } = findBook(input instanceof Uint8Array ? parseFile(input, warnings) : input);
  if (!hasEntries(book)) {
    const message = "This is no lorebook: it has no entries.";
    const fix = "Send a world-info file, a character_book, or a lorebook_v3 file.";
    throw new ImportError("entries_missing", message, fix, { field: pointer(path, "entries") });
  }
  return readBook(book, path, warnings);
}

/** Reads a book that stands at `path` of a larger document; one without entries is empty. */
export function readBook(book: JsonRecord, path: string, warnings: WarningCollector): BookImport {
  const entriesPath = pointer(path, "entries");
  const container = ownValue(book, "entries");
  const dialect: EntryDialect = Array.isArray(container) ? "character-book" : "world-info";
  const keyed = keyedEntries(container, entriesPath, warnings);
  const settings = readBookSettings(book, path, warnings);
  const uids = assignUids(keyed, warnings);
  const read = keyed
    .map(({ value, path: entryPath }, index) => {
      const record = entryRecord(value, entryPath, dialect);
      return { record, entry: readEntry(record, uids[index] ?? index, warnings) };
    })
    .sort((left, right) => left.entry.uid - right.entry.uid);
  requireWithin("lorebookKeys", countKeys(read), { field: entriesPath });
  for (const { record, entry } of read) warnOfEntry(record, entry, warnings);
  warnOfUnknownNames(keyed, entriesPath, warnings);
  return {
    ...settings,
    wordBoundaries: "ascii",
    entries: read.map(({ entry }) => entry),
    entrySources: read.map(({ record }) => record.top),
    source: book,
    warnings: warnings.list(),
  };
}

function parseFile(bytes: Uint8Array, warnings: WarningCollector): unknown {
  requireWithin("fileBytes", bytes.length);
  return parseJson(bytes, warnings);
}

function findBook(document: unknown): { readonly book: JsonRecord; readonly path: string } {
  if (!isRecord(document)) {
    throw new ImportError("root_not_object", "A lorebook must be a JSON object.", "Export the lorebook again.");
  }
  const foreign = foreignFormat(document);
  if (foreign !== null) {
    const fix = "Export it as a world-info file or a character_book.";
    throw new ImportError("format_unsupported", `Lorebooks of ${foreign} cannot be imported.`, fix);
  }
  const data = ownValue(document, "data");
  return !hasEntries(document) && isRecord(data) ? { book: data, path: "/data" } : { book: document, path: "" };
}

/** Names the application of a lorebook whose entries look alike and mean something else. */
function foreignFormat(document: JsonRecord): string | null {
  if (ownValue(document, "type") === "risu") return "RisuAI";
  if (ownValue(document, "kind") === "memory") return "Agnai";
  return ownValue(document, "lorebookVersion") === undefined ? null : "NovelAI";
}

function hasEntries(record: JsonRecord): boolean {
  const entries = ownValue(record, "entries");
  return Array.isArray(entries) || isRecord(entries);
}

function keyedEntries(container: unknown, path: string, warnings: WarningCollector): readonly KeyedEntry[] {
  if (!Array.isArray(container) && !isRecord(container)) return [];
  const pairs = Object.entries<unknown>(container);
  requireWithin("lorebookEntries", pairs.length, { field: path });
  return pairs.flatMap(([key, value]) => {
    const entryPath = pointer(path, key);
    if (isRecord(value)) return { key, path: entryPath, value };
    warnings.add("entry_skipped", "The entry is no object and was skipped.", { path: entryPath });
    return [];
  });
}

function countKeys(read: readonly { readonly entry: Omit<LoreEntry, "id"> }[]): number {
  return read.reduce((sum, { entry }) => sum + entry.keys.length + entry.secondaryKeys.length, 0);
}

function warnOfUnknownNames(entries: readonly KeyedEntry[], path: string, warnings: WarningCollector): void {
  const names = unknownNames(entries.map(({ value }) => value));
  if (names.length > 0) {
    warnings.add("kept_unused", `Kept in the entries' source and not used: ${names.join(", ")}.`, { path });
  }
}
