import { isEmpty, isRecord, ownValue, type JsonRecord } from "../json/record.ts";
import { KNOWN_ENTRY_NAMES } from "./entry-spellings.ts";

/** Names of values, in entries and their extensions, that nothing here knows; each once, in order of appearance. */
export function unknownNames(entries: readonly JsonRecord[]): readonly string[] {
  const found = new Set<string>();
  for (const entry of entries) {
    const extensions = ownValue(entry, "extensions");
    addUnknown(entry, "", found);
    if (isRecord(extensions)) addUnknown(extensions, "extensions.", found);
  }
  return [...found];
}

function addUnknown(record: JsonRecord, prefix: string, found: Set<string>): void {
  for (const [name, value] of Object.entries(record)) {
    if (!KNOWN_ENTRY_NAMES.has(name) && !isEmpty(value)) found.add(prefix + name);
  }
}
