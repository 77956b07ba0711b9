import { ImportError } from "../errors.ts";
import { IMPORT_LIMITS, requireWithin } from "../limits.ts";
import type { WarningCollector } from "../warnings.ts";
import { decodeText } from "./decode-text.ts";
import { jsonDepth } from "./json-depth.ts";
import { storableValue } from "./storable-value.ts";

/**
 * The JSON document in `bytes` (UTF-8, byte order mark allowed), safe to store and to merge.
 *
 * @throws ImportError `limit_exceeded` above `jsonBytes` or `jsonDepth`, checked before parsing; `not_json`.
 */
export function parseJson(bytes: Uint8Array, warnings: WarningCollector): unknown {
  requireWithin("jsonBytes", bytes.length);
  const text = decodeText(bytes, warnings);
  requireWithin("jsonDepth", jsonDepth(text, IMPORT_LIMITS.jsonDepth));
  return storableValue(parseDocument(text), warnings);
}

function parseDocument(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ImportError("not_json", `The text is not valid JSON${placeOf(error, text)}.`, "Export the file again.");
  }
}

/** The engine's own message quotes the text around the fault, which must not reach a log; only its position is used. */
function placeOf(error: unknown, text: string): string {
  const position = error instanceof SyntaxError ? /position (\d+)/.exec(error.message)?.[1] : undefined;
  if (position === undefined) return "";
  const before = text.slice(0, Number(position)).split("\n");
  return `: line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
