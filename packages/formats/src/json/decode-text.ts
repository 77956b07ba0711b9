import type { WarningCollector } from "../warnings.ts";

const strict = new TextDecoder("utf-8", { fatal: true });
const lenient = new TextDecoder("utf-8");

/** UTF-8 bytes as text without a byte order mark; invalid bytes become U+FFFD, with a warning. */
export function decodeText(bytes: Uint8Array, warnings: WarningCollector): string {
  try {
    return strict.decode(bytes);
  } catch {
    warnings.add("text_repaired", "Bytes that are not UTF-8 were replaced by U+FFFD.");
    return lenient.decode(bytes);
  }
}
