import { LORE_POSITIONS, SELECTIVE_LOGICS, type LoreEntry } from "@shiftwork/pipeline";
import { readFlag, readNumber, readRecord, readText, readTextList, type Reading } from "../json/coerce.ts";
import { isAbsent, isEmpty, ownValue, pointer } from "../json/record.ts";
import type { WarningCollector } from "../warnings.ts";
import { findValue, type EntryRecord } from "./entry-dialect.ts";
import { ENTRY_SPELLINGS } from "./entry-spellings.ts";
import { isRegexKey } from "./regex-key.ts";

/** What a 32-bit integer column holds. */
const WHOLE = { least: -2_147_483_648, most: 2_147_483_647, whole: true };
const COUNT = { ...WHOLE, least: 0 };
const PERCENT = { least: 0, most: 100, whole: false };
const ENTRY_ROLES = ["system", "user", "assistant"] as const;

type Field = keyof typeof ENTRY_SPELLINGS;
/** Reads one field of the entry in hand with the reader that fits it. */
type FieldReader = <Value>(field: Field, read: (value: unknown, at: Reading) => Value) => Value;

/** The entry in this system's words; every default is that of a new entry in the format the entry is written in. */
export function readEntry(entry: EntryRecord, uid: number, warnings: WarningCollector): Omit<LoreEntry, "id"> {
  const field: FieldReader = (name, read) => {
    const { value, path } = findValue(entry, ENTRY_SPELLINGS[name]);
    return read(value, { warnings, path });
  };
  const bookEntry = entry.dialect === "character-book";
  return {
    uid,
    title: field("title", readOptionalText) || field("name", readOptionalText),
    keys: field("keys", readKeys),
    secondaryKeys: field("secondaryKeys", readKeys),
    selective: field("selective", (value, at) => readFlag(value, !bookEntry, at)),
    selectiveLogic: field("selectiveLogic", (value, at) => readChoice(value, SELECTIVE_LOGICS, "and_any", at)),
    content: field("content", readOptionalText),
    constant: field("constant", (value, at) => readFlag(value, false, at)),
    enabled: readEnabled(field, entry, warnings),
    required: null,
    order: field("order", (value, at) => readNumber(value, 100, WHOLE, at)),
    position: field("position", (value, at) => readPosition(value, bookEntry, at)),
    depth: field("depth", (value, at) => readNumber(value, 4, COUNT, at)),
    role: field("role", (value, at) => readChoice(value, ENTRY_ROLES, "system", at)),
    outletName: field("outletName", readOptionalText),
    ...readProbability(field),
    ...readMatching(field),
    characterFilter: field("characterFilter", readCharacterFilter),
  };
}

function readProbability(field: FieldReader): Pick<LoreEntry, "probability" | "useProbability"> {
  return {
    probability: field("probability", (value, at) => readNumber(value, 100, PERCENT, at)),
    useProbability: field("useProbability", (value, at) => readFlag(value, true, at)),
  };
}

type Matching = Pick<LoreEntry, "scanDepth" | "caseSensitive" | "matchWholeWords" | "ignoreBudget" | "triggers">;

function readMatching(field: FieldReader): Matching {
  return {
    scanDepth: field("scanDepth", (value, at) => readNumber(value, null, COUNT, at)),
    caseSensitive: field("caseSensitive", (value, at) => readFlag(value, null, at)),
    matchWholeWords: field("matchWholeWords", (value, at) => readFlag(value, null, at)),
    ignoreBudget: field("ignoreBudget", (value, at) => readFlag(value, false, at)),
    triggers: field("triggers", readNames),
  };
}

function readOptionalText(value: unknown, at: Reading): string {
  return isAbsent(value) ? "" : readText(value, at);
}

function readNames(value: unknown, at: Reading): readonly string[] {
  return isAbsent(value) ? [] : readTextList(value, splitAtCommas, at);
}

/** A list, or one text with commas; a regex may hold commas and is never split. */
function readKeys(value: unknown, at: Reading): readonly string[] {
  const keys = isAbsent(value)
    ? []
    : readTextList(value, (text) => (isRegexKey(text) ? [text] : splitAtCommas(text)), at);
  return keys.filter((key) => key !== "");
}

function splitAtCommas(text: string): readonly string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** A book entry must say `enabled`; one that does not is on, for losing it would be worse. */
function readEnabled(field: FieldReader, entry: EntryRecord, warnings: WarningCollector): boolean {
  const enabled = field("enabled", (value, at) => readFlag(value, null, at));
  const disabled = field("disabled", (value, at) => readFlag(value, null, at));
  const switchedOn = disabled === null ? null : !disabled;
  if (entry.dialect === "world-info") return switchedOn ?? enabled ?? true;
  if (enabled === null && switchedOn === null) {
    const message = "The entry does not say whether it is enabled; it was read as enabled.";
    warnings.add("value_coerced", message, { path: pointer(entry.path, "enabled") });
  }
  return enabled ?? switchedOn ?? true;
}

/** One of a list, by its number in the format or by its name. */
function readChoice<Choice extends string>(
  value: unknown,
  choices: readonly Choice[],
  fallback: Choice,
  at: Reading,
): Choice {
  if (isAbsent(value) || value === "") return fallback;
  const index = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  const named = choices.find((choice) => choice === value);
  const choice = named ?? (typeof index === "number" ? choices[index] : undefined);
  if (choice !== undefined) return choice;
  at.warnings.add("value_dropped", `The value is not known; ${fallback} was used.`, { path: at.path });
  return fallback;
}

/** A book entry without `extensions.position` knows two places, and everything but `before_char` is the second. */
function readPosition(value: unknown, bookEntry: boolean, at: Reading): LoreEntry["position"] {
  if (value === "before_char") return "before_character";
  if (value === "after_char") return "after_character";
  return readChoice(value, LORE_POSITIONS, bookEntry ? "after_character" : "before_character", at);
}

function readCharacterFilter(value: unknown, at: Reading): LoreEntry["characterFilter"] {
  const filter = isAbsent(value) ? {} : readRecord(value, at);
  const part = (name: string): Reading => ({ warnings: at.warnings, path: pointer(at.path, name) });
  const tags = readNames(ownValue(filter, "tags"), part("tags"));
  if (!isEmpty(tags)) {
    const message = "Tags of a filter are ids of the application that wrote them and match no tag here.";
    at.warnings.add("feature_unsupported", message, { path: pointer(at.path, "tags") });
  }
  return {
    exclude: readFlag(ownValue(filter, "isExclude"), false, part("isExclude")),
    names: readNames(ownValue(filter, "names"), part("names")),
    tags,
  };
}
