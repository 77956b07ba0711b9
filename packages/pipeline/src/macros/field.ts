import { substitute } from "./substitute.ts";
import type { MacroValues } from "./values.ts";

/**
 * An author's field as the prompt takes it: trimmed, macros substituted, without carriage returns. `pointer` names the
 * field in the `AssemblyInputError` thrown when its macros make it too long.
 */
export function field(
  text: string,
  values: MacroValues,
  options: { readonly pointer: string; readonly original?: string },
): string {
  return substitute(text.trim(), values, options).replaceAll("\r", "");
}
