/** Upstream JSON: nothing in it can be relied on, so every field is read through one of these. */
export type JsonObject = { readonly [key: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function objectAt(parent: JsonObject | null, key: string): JsonObject | null {
  const value = parent?.[key];
  return isObject(value) ? value : null;
}

export function listAt(parent: JsonObject | null, key: string): readonly unknown[] {
  const value = parent?.[key];
  return Array.isArray(value) ? value : [];
}

/** The string at `key`, else `""`. */
export function textAt(parent: JsonObject | null, key: string): string {
  const value = parent?.[key];
  return typeof value === "string" ? value : "";
}

/** More tokens than any reply or window holds; such a number is a fault, and no 32-bit column takes it. */
const LARGEST_COUNT = 2 ** 31 - 1;

/** The whole number from 0 to `LARGEST_COUNT` at `key`, else `null`: unknown is not 0. */
export function countAt(parent: JsonObject | null, key: string): number | null {
  const value = parent?.[key];
  const isCount = typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= LARGEST_COUNT;
  return isCount ? value : null;
}

/** The parsed value, or `undefined` when the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
