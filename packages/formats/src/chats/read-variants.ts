import { readText } from "../json/coerce.ts";
import { isAbsent, isRecord, ownValue, pointer, type JsonRecord } from "../json/record.ts";
import type { WarningCollector } from "../warnings.ts";

/** The texts of one turn and which of them is shown. */
export interface Variants {
  readonly variants: readonly string[];
  readonly activeVariant: number;
}

/** `mes` is what the user saw; a list that does not hold it at `swipe_id` gets it as one more variant. */
export function readVariants(message: JsonRecord, warnings: WarningCollector): Variants {
  const text = readMessageText(ownValue(message, "mes"), "/mes", warnings);
  const swipes = readSwipes(ownValue(message, "swipes"), warnings);
  if (swipes.length === 0) return { variants: [text], activeVariant: 0 };
  const active = ownValue(message, "swipe_id");
  const chosen = typeof active === "number" ? swipes.findIndex(({ index }) => index === active) : -1;
  const variants = swipes.map((swipe) => swipe.text);
  if (variants[chosen] === text) return { variants, activeVariant: chosen };
  const same = chosen === -1 ? variants.indexOf(text) : -1;
  if (same !== -1) return { variants, activeVariant: same };
  warnings.add("variant_repaired", "The text shown is not the chosen variant; it was added as one more.", {
    path: "/swipe_id",
  });
  return { variants: [...variants, text], activeVariant: variants.length };
}

/** Text, or the object around it that Chub writes. */
function readMessageText(value: unknown, path: string, warnings: WarningCollector): string {
  if (isRecord(value) && Object.hasOwn(value, "message")) {
    return readText(ownValue(value, "message"), { warnings, path: pointer(path, "message") });
  }
  return readText(value, { warnings, path });
}

/** Each text with its place in the file's list, to which `swipe_id` refers. */
function readSwipes(
  value: unknown,
  warnings: WarningCollector,
): readonly { readonly text: string; readonly index: number }[] {
  if (isAbsent(value)) return [];
  if (!Array.isArray(value)) {
    warnings.add("value_dropped", "The variants are no list and are ignored.", { path: "/swipes" });
    return [];
  }
  return value.flatMap((swipe: unknown, index) => {
    const path = pointer("/swipes", index);
    if (typeof swipe === "string" || (isRecord(swipe) && Object.hasOwn(swipe, "message"))) {
      return { text: readMessageText(swipe, path, warnings), index };
    }
    warnings.add("value_dropped", "The variant is no text and is ignored.", { path });
    return [];
  });
}
