import { AssemblyInputError } from "../errors.ts";
import type { MacroValues } from "./values.ts";

/** What one field needs besides the names. */
export interface SubstituteOptions {
  /** What `{{original}}` stands for, once; without it the macro stays as text. */
  readonly original?: string;
  /** JSON Pointer of the field, named when the result grows too long. Default `/macros`. */
  readonly pointer?: string;
}

/** UTF-16 units a text may grow to by substitution; one that is longer as written may stay as long. */
export const MACRO_OUTPUT_LIMIT = 1_048_576;

// One alternation, no nested repeats: every start fails within the run of blanks it stands on, so time is linear.
const MACRO = /\{\{\s*(user|char|original)\s*\}\}|<(user|bot|char)>/gi;

/**
 * Replaces `{{user}}`, `{{char}}`, `{{original}}` and the old markers `<USER>`, `<BOT>`, `<CHAR>`, whatever their case and
 * with blanks allowed inside the braces, in one pass. Values are inserted literally; unknown macros stay as text; a second
 * `{{original}}` is empty. Throws `AssemblyInputError` (`VALIDATION_FAILED`) when the result would outgrow `MACRO_OUTPUT_LIMIT`.
 */
export function substitute(text: string, values: MacroValues, options: SubstituteOptions = {}): string {
  if (!text.includes("{{") && !text.includes("<")) return text;
  const limit = Math.max(MACRO_OUTPUT_LIMIT, text.length);
  let original = options.original;
  let length = text.length;
  return text.replace(MACRO, (written: string, macro: string | undefined, marker: string | undefined) => {
    const name = (macro ?? marker ?? "").toLowerCase();
    if (name === "original" && original === undefined) return written;
    const value = name === "original" ? (original ?? "") : name === "user" ? values.user : values.char;
    if (name === "original") original = "";
    length += value.length - written.length;
    if (length > limit) throw tooLong(options.pointer ?? "/macros", limit);
    return value;
  });
}

function tooLong(pointer: string, limit: number): AssemblyInputError {
  return new AssemblyInputError(
    "VALIDATION_FAILED",
    pointer,
    `Substituting the macros of ${pointer} gives more than ${limit} characters.`,
    "Use fewer macros there, or shorten the name they insert.",
  );
}
