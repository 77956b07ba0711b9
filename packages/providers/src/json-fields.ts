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

/** The whole number ≥ 0 at `key`, else `null`: unknown is not 0. */
export function countAt(parent: JsonObject | null, key: string): number | null {
  const value = parent?.[key];
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** The parsed value, or `undefined` when the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
