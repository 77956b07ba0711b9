import { readNumber, readText } from "../json/coerce.ts";
import { isAbsent, isEmpty, isRecord, ownValue, pointer, type JsonRecord } from "../json/record.ts";
import type { WarningCollector } from "../warnings.ts";

/** What a book says about all its entries. */
export interface BookSettings {
  readonly name: string;
  readonly scanDepth: number | null;
  readonly budgetTokens: number | null;
}

const COUNT = { least: 0, most: 2_147_483_647, whole: true };
const READ_NAMES: ReadonlySet<string> = new Set([
  "entries",
  "name",
  "originalData",
  "scan_depth",
  "scanDepth",
  "token_budget",
  "tokenBudget",
  "recursive_scanning",
  "recursiveScanning",
]);

/** Reads both spellings. `originalData` (the book a world-info file was made from) lends its name, nothing else. */
export function readBookSettings(book: JsonRecord, path: string, warnings: WarningCollector): BookSettings {
  const original = ownValue(book, "originalData");
  const name = readName(book, path, warnings);
  warnOfRecursion(book, path, warnings);
  if (isRecord(original)) warnOfOriginal(original, pointer(path, "originalData"), warnings);
  warnOfUnused(book, path, warnings);
  return {
    name: name === "" && isRecord(original) ? readName(original, pointer(path, "originalData"), warnings) : name,
    scanDepth: readCount(book, ["scan_depth", "scanDepth"], path, warnings),
    budgetTokens: readCount(book, ["token_budget", "tokenBudget"], path, warnings),
  };
}

function readName(book: JsonRecord, path: string, warnings: WarningCollector): string {
  const name = ownValue(book, "name");
  return isAbsent(name) ? "" : readText(name, { warnings, path: pointer(path, "name") }).trim();
}

/** 0 would switch the whole book off; editors write it for "not set". */
function readCount(
  book: JsonRecord,
  names: readonly string[],
  path: string,
  warnings: WarningCollector,
): number | null {
  const name = names.find((spelling) => !isAbsent(ownValue(book, spelling)));
  if (name === undefined) return null;
  const at = { warnings, path: pointer(path, name) };
  const count = readNumber(ownValue(book, name), null, COUNT, at);
  if (count === 0) warnings.add("value_coerced", `${name} 0 was read as not set.`, { path: at.path });
  return count === 0 ? null : count;
}

function warnOfRecursion(book: JsonRecord, path: string, warnings: WarningCollector): void {
  for (const name of ["recursive_scanning", "recursiveScanning"]) {
    if (!isEmpty(ownValue(book, name))) {
      const message = "The book asks for recursive scanning, which is not run here; kept in the source.";
      warnings.add("feature_unsupported", message, { path: pointer(path, name) });
    }
  }
}

function warnOfOriginal(original: JsonRecord, path: string, warnings: WarningCollector): void {
  for (const name of ["scan_depth", "token_budget", "recursive_scanning"]) {
    if (!isEmpty(ownValue(original, name))) {
      const message = `${name} of the book this file was made from is not applied; kept in the source.`;
      warnings.add("kept_unused", message, { path: pointer(path, name) });
    }
  }
}

function warnOfUnused(book: JsonRecord, path: string, warnings: WarningCollector): void {
  const unused = Object.keys(book).filter((name) => !READ_NAMES.has(name) && !isEmpty(book[name]));
  if (unused.length > 0)
    warnings.add("kept_unused", `Kept in the source and not used: ${unused.join(", ")}.`, { path });
}
