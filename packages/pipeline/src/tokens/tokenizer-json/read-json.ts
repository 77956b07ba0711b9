import { TokenizerError } from "./tokenizer-error.ts";

/** Largest file read, in UTF-16 units: twice that of Llama 3, the largest there is. */
export const MOST_TOKENIZER_CHARACTERS = 36_000_000;

/** A JSON object whose members are not known yet. */
export type JsonObject = { readonly [member: string]: unknown };

/** Parses the text of a `tokenizer.json`. Throws `TokenizerError` when it is too long or no JSON. */
export function parseTokenizer(text: string): unknown {
  if (text.length > MOST_TOKENIZER_CHARACTERS)
    throw new TokenizerError("", `has ${text.length} characters; at most ${MOST_TOKENIZER_CHARACTERS} are read`);
  try {
    return JSON.parse(text);
  } catch {
    throw new TokenizerError("", "is not JSON");
  }
}

/** The value as an object. */
export function objectAt(value: unknown, pointer: string): JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new TokenizerError(pointer, "must be an object");
  return value as JsonObject;
}

/** The value as an array. */
export function arrayAt(value: unknown, pointer: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new TokenizerError(pointer, "must be an array");
  return value as readonly unknown[];
}

/** Refuses a member that is set to anything but one of `allowed`; absent is `undefined`. */
export function expectOneOf(object: JsonObject, member: string, allowed: readonly unknown[], pointer: string): void {
  if (allowed.includes(object[member])) return;
  const wanted = allowed.filter((value) => value !== undefined).map((value) => JSON.stringify(value));
  throw new TokenizerError(`${pointer}/${member}`, `must be ${wanted.join(" or ")} to be counted by exactly`);
}
