/** A JSON object. Read it with `ownValue`: a key of the prototype is no value of the file. */
export type JsonRecord = { readonly [key: string]: unknown };

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value under the object's own key, else `undefined`. */
export function ownValue(record: JsonRecord, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

/** `null` and absent are the same in every format read here. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** Nothing to lose: absent, false, blank text, an empty list, or an object of nothing but these. */
export function isEmpty(value: unknown): boolean {
  if (isAbsent(value) || value === false) return true;
  if (typeof value === "string") return value.trim() === "";
  if (Array.isArray(value)) return value.length === 0;
  return isRecord(value) && Object.values(value).every(isEmpty);
}

/** One more step of a JSON Pointer (RFC 6901). */
export function pointer(base: string, key: string | number): string {
  return `${base}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
