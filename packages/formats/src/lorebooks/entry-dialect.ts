import { isAbsent, isRecord, ownValue, pointer, type JsonRecord } from "../json/record.ts";

/** The two spellings of one entry: the world-info file's, and the one of a card's `character_book`. */
export type EntryDialect = "world-info" | "character-book";

/** How one value is spelled: in a world-info entry, and in the `extensions` and at the top of a book entry. */
export interface Spelling {
  readonly worldInfo: string;
  readonly extension: string | null;
  readonly book: string | null;
}

/** One entry of a book with everything needed to find a value in it. */
export interface EntryRecord {
  readonly dialect: EntryDialect;
  readonly path: string;
  readonly top: JsonRecord;
  readonly extensions: JsonRecord;
}

/** An entry of either dialect; `containerDialect` decides where the entry itself shows none. */
export function entryRecord(entry: JsonRecord, path: string, containerDialect: EntryDialect): EntryRecord {
  const extensions = ownValue(entry, "extensions");
  return {
    dialect: dialectOf(entry, containerDialect),
    path,
    top: entry,
    extensions: isRecord(extensions) ? extensions : {},
  };
}

function dialectOf(entry: JsonRecord, containerDialect: EntryDialect): EntryDialect {
  if (Object.hasOwn(entry, "key")) return "world-info";
  return Object.hasOwn(entry, "keys") ? "character-book" : containerDialect;
}

/**
 * The value under any of its spellings. In a book entry the extension rules where it is set, then the field itself.
 * In a world-info entry its own field rules even as `null` (a stale extension must not override "inherit"); the
 * extension counts only where the field is absent.
 */
export function findValue(entry: EntryRecord, spelling: Spelling): FoundValue {
  if (entry.dialect === "world-info" && Object.hasOwn(entry.top, spelling.worldInfo)) {
    return { value: ownValue(entry.top, spelling.worldInfo), path: pointer(entry.path, spelling.worldInfo) };
  }
  const { worldInfo, extension, book } = spelling;
  return (
    firstSet(entry.extensions, pointer(entry.path, "extensions"), [extension, worldInfo]) ??
    firstSet(entry.top, entry.path, [book, worldInfo, extension]) ?? { value: undefined, path: entry.path }
  );
}

/** A value and its place; `undefined` when it stands nowhere. */
export interface FoundValue {
  readonly value: unknown;
  readonly path: string;
}

function firstSet(record: JsonRecord, base: string, names: readonly (string | null)[]): FoundValue | null {
  const name = names.find((spelling) => spelling !== null && !isAbsent(ownValue(record, spelling)));
  return name === null || name === undefined ? null : { value: ownValue(record, name), path: pointer(base, name) };
}
