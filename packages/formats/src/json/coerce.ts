import type { WarningCollector } from "../warnings.ts";
import { isAbsent, isRecord } from "./record.ts";

/** Where a value stands and who hears of its repair. */
export interface Reading {
  readonly warnings: WarningCollector;
  readonly path: string;
}

/** Text; `null` and absent are `""`, numbers and booleans are written out, anything else is dropped. */
export function readText(value: unknown, at: Reading): string {
  if (typeof value === "string") return value;
  if (value === undefined) return "";
  if (value === null) return coerced("", "null was read as empty text.", at);
  if (typeof value === "number" || typeof value === "boolean") {
    return coerced(String(value), `A ${typeof value} was read as text.`, at);
  }
  return dropped("", "Text was expected; the value is ignored.", at);
}

/** A list of texts; a single text becomes a list by `fromText`, items that are no text are dropped. */
export function readTextList(
  value: unknown,
  fromText: (text: string) => readonly string[],
  at: Reading,
): readonly string[] {
  if (value === undefined) return [];
  if (value === null) return coerced([], "null was read as an empty list.", at);
  if (typeof value === "string") return coerced(fromText(value), "A text was read as a list.", at);
  if (!Array.isArray(value)) return dropped([], "A list was expected; the value is ignored.", at);
  const texts = value.filter((item) => typeof item === "string");
  const lost = value.length - texts.length;
  return lost === 0 ? texts : dropped(texts, `${lost} items of the list are no text and are ignored.`, at);
}

/** An object; anything else is empty, with a warning unless it is absent. */
export function readRecord(value: unknown, at: Reading): { readonly [key: string]: unknown } {
  if (isRecord(value)) return value;
  if (value === undefined) return {};
  if (value === null) return coerced({}, "null was read as absent.", at);
  return dropped({}, "An object was expected; the value is ignored.", at);
}

/** `true` or `false`; numbers and the words count as what they mean, `null` and absent are `fallback`. */
export function readFlag<Fallback extends boolean | null>(
  value: unknown,
  fallback: Fallback,
  at: Reading,
): boolean | Fallback {
  if (typeof value === "boolean") return value;
  if (isAbsent(value)) return fallback;
  if (typeof value === "number") return coerced(value !== 0, "A number was read as a switch.", at);
  const word = typeof value === "string" ? value.trim().toLowerCase() : "";
  if (word === "true" || word === "1") return coerced(true, "A text was read as a switch.", at);
  if (word === "false" || word === "0") return coerced(false, "A text was read as a switch.", at);
  return dropped(fallback, "A switch was expected; the value is ignored.", at);
}

/** Inclusive bounds; `whole` cuts off the fraction. */
export interface NumberRange {
  readonly least: number;
  readonly most: number;
  readonly whole: boolean;
}

/** A number moved into `range`; digits in a text count, `null` and absent are `fallback`. */
export function readNumber<Fallback extends number | null>(
  value: unknown,
  fallback: Fallback,
  range: NumberRange,
  at: Reading,
): number | Fallback {
  if (isAbsent(value)) return fallback;
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) {
    return dropped(fallback, "A number was expected; the value is ignored.", at);
  }
  const cut = range.whole ? Math.trunc(number) : number;
  const moved = Math.min(Math.max(cut, range.least), range.most);
  return moved === value ? moved : coerced(moved, `The value was read as ${moved}.`, at);
}

function coerced<Value>(value: Value, message: string, at: Reading): Value {
  at.warnings.add("value_coerced", message, { path: at.path });
  return value;
}

function dropped<Value>(value: Value, message: string, at: Reading): Value {
  at.warnings.add("value_dropped", message, { path: at.path });
  return value;
}
