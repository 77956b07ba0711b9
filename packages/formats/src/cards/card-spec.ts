import { ImportError } from "../errors.ts";
import { isAbsent, isRecord, ownValue, type JsonRecord } from "../json/record.ts";
import type { WarningCollector } from "../warnings.ts";

export const CARD_SPECS = ["v1", "v2", "v3", "pygmalion"] as const;
/** Shape of a card: `v1` flat, `v2` and `v3` under `data`, `pygmalion` flat with `char_*` names. */
export type CardSpec = (typeof CARD_SPECS)[number];

/** A card whose shape is known. `fields` is the object that holds them: `data`, or the root of a flat card. */
export interface CardDocument {
  readonly spec: CardSpec;
  readonly root: JsonRecord;
  readonly fields: JsonRecord;
}

/**
 * Which card specification a JSON document follows, by content.
 *
 * @throws ImportError `root_not_object`; `data_missing` when `spec` stands without `data`; `name_missing` for a flat
 * object with neither `name` nor `char_name`.
 */
export function detectCardSpec(document: unknown, warnings: WarningCollector): CardDocument {
  if (!isRecord(document)) {
    throw new ImportError("root_not_object", "A card must be a JSON object.", "Export the card again.");
  }
  const spec = ownValue(document, "spec");
  return isAbsent(spec) ? flatCard(document) : nestedCard(document, spec, warnings);
}

function nestedCard(root: JsonRecord, spec: unknown, warnings: WarningCollector): CardDocument {
  const fields = ownValue(root, "data");
  if (!isRecord(fields)) {
    const fix = "Put the card's fields under data, or remove spec from a V1 card.";
    throw new ImportError("data_missing", "The card names a spec but has no data object.", fix, { field: "/data" });
  }
  if (spec === "chara_card_v2") return { spec: "v2", root, fields };
  if (spec === "chara_card_v3") warnIfNewer(ownValue(root, "spec_version"), warnings);
  else
    warnings.add("spec_unknown", "The spec is not known; the card was read as V2 and V3 together.", { path: "/spec" });
  return { spec: "v3", root, fields };
}

function warnIfNewer(version: unknown, warnings: WarningCollector): void {
  if (Number.parseFloat(String(version)) > 3) {
    const message = "The card follows a newer spec than 3.0; fields unknown here are kept in the source.";
    warnings.add("spec_newer", message, { path: "/spec_version" });
  }
}

function flatCard(root: JsonRecord): CardDocument {
  if (hasText(root, "name")) return { spec: "v1", root, fields: root };
  if (hasText(root, "char_name")) return { spec: "pygmalion", root, fields: root };
  const message = "This is no character card: it has neither spec and data nor a name.";
  throw new ImportError("name_missing", message, "Give the character a name.", { field: "/name" });
}

function hasText(record: JsonRecord, key: string): boolean {
  const value = ownValue(record, key);
  return typeof value === "string" && value.trim() !== "";
}
