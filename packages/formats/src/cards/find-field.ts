import { isAbsent, isEmpty, ownValue, pointer, type JsonRecord } from "../json/record.ts";
import type { WarningCollector } from "../warnings.ts";
import type { CardDocument } from "./card-spec.ts";
import { spellingsOf } from "./card-fields.ts";

/** A field as it stands in the card; `value` is `undefined` when it stands nowhere. */
export interface FoundField {
  readonly value: unknown;
  readonly path: string;
}

/**
 * Finds a field by its card name. In a V2/V3 card `data` rules; a field that stands only at the root (a book outside
 * `data`, V1 text mirrored by hand) is taken from there, and a root that says something else is named and ignored.
 */
export function findField(card: CardDocument, cardName: string, warnings: WarningCollector): FoundField {
  const nested = card.fields !== card.root;
  const inside = firstSpelling(card.fields, nested ? "/data" : "", spellingsOf(cardName, card.spec));
  if (!nested) return inside;
  const outside = firstSpelling(card.root, "", spellingsOf(cardName, card.spec));
  if (isEmpty(outside.value)) return inside;
  if (isAbsent(inside.value)) {
    warnings.add("read_from_root", `${cardName} stands outside data and was read from there.`, { path: outside.path });
    return outside;
  }
  if (!sameJson(inside.value, outside.value)) {
    warnings.add("root_ignored", `${cardName} differs from the one in data, which was used.`, { path: outside.path });
  }
  return inside;
}

function firstSpelling(record: JsonRecord, path: string, names: readonly string[]): FoundField {
  const filled = names.find((name) => !isEmpty(ownValue(record, name)));
  const name = filled ?? names.find((spelling) => Object.hasOwn(record, spelling)) ?? names[0] ?? "";
  return { value: ownValue(record, name), path: pointer(path, name) };
}

function sameJson(left: unknown, right: unknown): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right);
}
