import type { LoreEntry } from "@shiftwork/pipeline";
import { isEmpty, ownValue } from "../json/record.ts";
import type { WarningCollector } from "../warnings.ts";
import { findValue, type EntryRecord } from "./entry-dialect.ts";
import { UNSUPPORTED_FEATURES } from "./entry-spellings.ts";
import { isRegexKey, isValidRegexKey } from "./regex-key.ts";

const RUN_POSITIONS: ReadonlySet<string> = new Set(["before_character", "after_character"]);
/** Characters that make a plain key look like a pattern of a V3 book. */
const PATTERN_CHARACTERS = /[\\^$|*+?()[\]{}]/;

/** Names what this entry asks for and does not get, and keys that will not do what they seem to say. */
export function warnOfEntry(record: EntryRecord, entry: Omit<LoreEntry, "id">, warnings: WarningCollector): void {
  const label = entryLabel(entry.uid, entry.title);
  warnOfKeys(record, entry, label, warnings);
  const features = [...unsupportedValues(record), ...unsupportedForms(record, entry)];
  if (features.length > 0) {
    const message = `${label} asks for what is not run here and is kept in the source: ${features.join(", ")}.`;
    warnings.add("feature_unsupported", message, { path: record.path });
  }
}

/** How a warning names an entry: its number, and its title as far as a line allows. */
function entryLabel(uid: number, title: string): string {
  const shown = Array.from(title.trim().slice(0, 120)).slice(0, 60).join("");
  return shown === "" ? `Entry ${uid}` : `Entry ${uid} "${shown}"`;
}

function unsupportedValues(record: EntryRecord): readonly string[] {
  return UNSUPPORTED_FEATURES.flatMap(({ label, spelling }) => {
    const { value } = findValue(record, spelling);
    return isEmpty(value) || value === 0 || value === "0" ? [] : `${label} (${spelling.worldInfo})`;
  });
}

function unsupportedForms(record: EntryRecord, entry: Omit<LoreEntry, "id">): readonly string[] {
  const forms: string[] = [];
  if (!RUN_POSITIONS.has(entry.position)) forms.push(`position ${entry.position}`);
  if (entry.content.trimStart().startsWith("@@")) forms.push("decorators (@@)");
  if (hasBarePatterns(record, entry)) forms.push("keys as patterns without slashes (use_regex; read as plain text)");
  return forms;
}

/** SillyTavern writes `use_regex: true` beside plain keys, together with extensions of its own. */
function hasBarePatterns(record: EntryRecord, entry: Omit<LoreEntry, "id">): boolean {
  if (ownValue(record.top, "use_regex") !== true || Object.hasOwn(record.extensions, "position")) return false;
  return [...entry.keys, ...entry.secondaryKeys].some((key) => !isRegexKey(key) && PATTERN_CHARACTERS.test(key));
}

function warnOfKeys(
  record: EntryRecord,
  entry: Omit<LoreEntry, "id">,
  label: string,
  warnings: WarningCollector,
): void {
  for (const key of [...entry.keys, ...entry.secondaryKeys]) {
    if (key.trim() === "") {
      warnings.add("key_blank", `${label} has a key of only spaces, which matches every text.`, { path: record.path });
    } else if (isRegexKey(key) && !isValidRegexKey(key)) {
      const message = `${label} has a key between slashes that is no valid regex; it is matched as plain text.`;
      warnings.add("key_invalid_regex", message, { path: record.path });
    }
  }
}
