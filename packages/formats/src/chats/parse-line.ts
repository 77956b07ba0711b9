import { decodeText } from "../json/decode-text.ts";
import { jsonDepth } from "../json/json-depth.ts";
import { isRecord, type JsonRecord } from "../json/record.ts";
import { storableValue } from "../json/storable-value.ts";
import { IMPORT_LIMITS } from "../limits.ts";
import type { WarningCollector } from "../warnings.ts";
import type { TextLine } from "./text-lines.ts";

/** The object on a line; `null` for an empty line and, with a warning, for one that cannot be read. */
export function parseLine(line: TextLine, warnings: WarningCollector): JsonRecord | null {
  const text = decodeText(line.bytes, warnings).trim();
  if (text === "") return null;
  if (jsonDepth(text, IMPORT_LIMITS.jsonDepth) > IMPORT_LIMITS.jsonDepth) {
    warnings.add("line_skipped", `The line nests deeper than the limit jsonDepth (${IMPORT_LIMITS.jsonDepth}).`);
    return null;
  }
  const value = parseText(text);
  if (isRecord(value)) return storableValue(value, warnings) as JsonRecord;
  if (value !== undefined) warnings.add("line_skipped", "The line is no JSON object and was skipped.");
  else if (line.terminated) warnings.add("line_skipped", "The line is not valid JSON and was skipped.");
  else warnings.add("line_truncated", "The file breaks off in its last line, which was skipped.");
  return null;
}

/** `undefined` is no JSON value, so it can say that there is none. */
function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
